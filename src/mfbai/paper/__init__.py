"""The paper's claims and questions, one module each."""
