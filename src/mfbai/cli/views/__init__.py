"""What commands print, one file for each command that prints much.

plan        a plan: its answer, its tables and what they mean
reproduce   the progress over all of the paper's figures
study       a study, once or live
"""
