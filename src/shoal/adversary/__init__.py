"""What several attacks share: external tables, candidates, possible worlds, histories of releases."""
