"""A report: a certificate as one HTML file, which opens without a server.

making     a report of a study
page       the file, as a function of what it shows
program    the page's scripts and styles, in one file
answer     the answer as plain HTML, for readers without scripts
shown      what the pictures and sentences are made of: a view of the journal, replayed
beside     what was kept beside the journal: note, tags, workers
reading    the certificate of a report, and what is beside it
checking   whether a report is what this version makes of its certificate

The scripts and styles are those of the page that `mfbai serve` shows, in `web/static`; here they are only text.
"""
