"""What tests share: slow and obvious versions to compare with, servers, crowds of workers."""
