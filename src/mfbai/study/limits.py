"""What a study accepts: the forms of names and ids, and the limits of everything that callers give."""

LONGEST_NAME = 200  # characters of a study's name
LARGEST = 1e100  # of values, so that their squares are finite, and of costs, so that their sums are
SMALLEST_RISK = 1e-300  # its inverse times the number of arms is finite
LEASE = 3600.0  # seconds that a worker has for a trial, unless it asks for more or less
LONGEST_LEASE = 1e9  # seconds
MOST_AT_ONCE = 1000  # trials in one `ask`: other callers wait while they are handed out
MOST_PARTS = 10_000  # evaluations in one `ask`, where trials have parts
LONGEST_REASON = 2000  # characters kept of why a trial failed
LONGEST_NOTE = 20_000  # characters
MOST_TAGS = 20  # of a study
LONGEST_TAG = 40  # characters
LONGEST_WORKER = 100  # characters of its name

KEY = "[0-9a-f]{8}"  # of a study: its trials' ids end in it
TRIAL_ID = rf"([1-9][0-9]{{0,8}})-({KEY})"  # number and key
REQUEST = "[A-Za-z0-9_-]{1,64}"  # an idempotency key of `ask`
REQUEST_IN_WORDS = "give up to 64 letters, digits, '-' or '_'"
