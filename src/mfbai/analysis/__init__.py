"""What data and truths say.

evidence        what a set of evaluations says about which arm is best
values          reading evaluations one by one
guarantee       the same with a proof: risk, intervals, bias alarms
bearing         what a proof can bear: wider bias bounds, or none
pilot           what values at common seeds tell about fidelities; pairs, paired_noise and controls are its parts
onward          the problem to go on with after a pilot, and what it rests on
variance        whether results vary more than was stated
oracle          the least possible cost, C*, and the shares that attain it, with a certificate
cutting_planes  a slower method for the oracle, for what the fast one cannot do
plain           what a pilot found, as text
literature      what was believed before
"""
