"""The paper's experiments: its parameters and numbers as data, a runner, and the tables.

`data/` holds what the paper says, in files to be read; `experiments` makes jobs of it, `runner`
works them off into one line of JSON each, and `rows`, `render` and `figures` show what was found.
"""
