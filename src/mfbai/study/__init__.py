"""Live studies: ask, tell, and a verdict that can be audited.

study         creating and loading studies; `Study`: ask, tell, status
standing      what can be read of a study: status, history, trials, tables
care          its name, note, tags, pauses and end, beside the journal
ledger        the journal as one process has it, and writing to it in turns
journal       events and their hashes
fold          the state that a journal amounts to
rounds        rounds of evaluations in which arms share seeds
surplus       when more evaluations under way would be a waste
settings      what a study was asked to find out, and how; seeds
limits        what a study accepts: forms of names and ids, sizes
table         its trials as a table: pandas, CSV
catalogue     the studies of a storage, as a list
status        trials, and where a study stands
additions     values from elsewhere, as a table
batches       values of many trials, told together
parts         trials that are several evaluations
verdict       its end
history       its course
forecast      what it will still cost
sentences     what people are told about all that
view          what a page shows of a study
rows          the arms that it shows, and the search for others
reopen        going on with other bias bounds
certificate   a journal in a file, and its replay
verification  checking a file: a certificate, or a report
report/       a certificate as a page that anyone can open
jobs          trials that a crew has under way
workers       have evaluated what a study asks for
sameness      values that do not depend on the seed
program       a program that evaluates
pilot         evaluations at common seeds, to find out what fidelities have in common
signals       Ctrl-C and SIGTERM
storage/      where journals are kept
"""

from mfbai.study.certificate import Verification
from mfbai.study.status import Status, Trial
from mfbai.study.study import Study, create_study, list_studies, load_study
from mfbai.study.verdict import Verdict
from mfbai.study.verification import verify

__all__ = [
    "Status",
    "Study",
    "Trial",
    "Verdict",
    "Verification",
    "create_study",
    "list_studies",
    "load_study",
    "verify",
]
