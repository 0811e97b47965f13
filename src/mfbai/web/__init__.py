"""`mfbai serve`: an HTTP API over studies, and a page to watch them.

app       the API: its routes
care      those that change a study's name, note and tags, pause or delete it
answers   what routes answer with
bodies    what the API takes
replies   what it gives
reading   what callers send: the study that a path names, bodies, specs
choices   what a new study can be made of: strategies, rules, families, limits
errors    exceptions as responses
hub       the studies that are open
listing   the list of studies
queue     a study's calls, gathered into turns
streams   server-sent events of a study
encoding  large answers, in steps
guard     what every request must pass: origin, token, kind, size
uploads   bodies as they come in: how large, how many at once
protocol  a limit on the size of a request's head
access    where the server listens, and the token that callers need
server    the process: how it starts and stops
demo      simulated studies
static    the page
"""
