"""Studies on a server (`mfbai serve`), with the methods of `Study`.

client   `Client`: creating, loading and listing studies
remote   `RemoteStudy`: ask, tell, status
calls    connections, attempts while the server is away, errors
"""

from mfbai.client.client import Client
from mfbai.client.remote import RemoteStudy

__all__ = ["Client", "RemoteStudy"]
