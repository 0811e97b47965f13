"""`mfbai serve`: an HTTP API over studies, and a page to watch them.

desk      a study in the server: calls that have gathered are done in one turn; whoever watches is told of changes
insight   what the page shows of a study beyond its status
guard     what every request must pass: size, origin, token
bodies    what the API takes and gives
specs     the problems that are sent
app       the API
protocol  a limit to what comes before a body
access    where it listens, and who may call
server    the process: how it begins, and how it ends
demo      simulated studies
"""
