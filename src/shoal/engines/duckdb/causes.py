"""Causes: why a database could not be used, in words of our own.

What drivers say quotes addresses, passwords and cells. It is only looked through for what is well known.
"""

from __future__ import annotations

import re

_CAUSES = (
    (r"could not translate host name|name or service not known|nodename nor servname", "no server has this name"),
    (r"connection refused", "nothing listens at this address and port; is the server running?"),
    (r"timeout expired|timed out|timeout", "the server did not answer in time"),
    (
        r"password authentication failed|no password supplied|authentication failed|no pg_hba\.conf entry",
        "the server does not let this user in; check the user, the password and what the server allows",
    ),
    (r'(role|user) "[^"]*" does not exist', "the server has no such user"),
    (r'database "[^"]*" does not exist', "the server has no such database"),
    (r"too many (clients|connections)|remaining connection slots", "the server has too many connections already"),
    (
        r"terminating connection|server closed the connection|connection not open|no connection to the server"
        r"|connection reset|broken pipe|ssl syscall error|unexpected eof|could not receive data",
        "the server ended the connection",
    ),
    (r"\bssl\b|certificate", "no encrypted connection could be made; check the certificate and sslmode"),
    (r"being detached|already attached|resource in use", "another part of this program has the database open"),
    (r"could not set lock|conflicting lock", "another process has the database open; close it there first"),
    (r"database (table )?is locked", "another process is writing to the database"),
    (r"no space left|disk (is )?full|could not extend file|out of disk", "the disk is full"),
    (r"permission denied|must be owner|insufficient privilege", "this user may not do that"),
    (r"read-only|readonly", "the database can only be read"),
    (r"not a valid duckdb database|file is not a database|malformed|corrupt", "the file is damaged, or not a database"),
    (r"(storage|database) .*version|version number", "the file was written by another version of the database"),
    (r"relation .* does not exist|no such table|does not exist", "the table is no longer there"),
)


def cause_of(error: BaseException) -> str:
    """Why a driver failed, without a word of its own; the kind of error where it is nothing that is well known."""
    text = str(error).lower()
    for pattern, cause in _CAUSES:
        if re.search(pattern, text):
            return cause
    return f"the driver says no more than {type(error).__name__}"
