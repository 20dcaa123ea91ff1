"""The page: a local web server for people who do not program. It needs the extra `web`.

A screen is one question. Its module in `screens/` gives its facts, which are what its JSON version shows and all that
its template gets. Nothing here decides about privacy: the facts come from the verbs of the API.
"""
