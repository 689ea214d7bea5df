"""The paper's experiments: its parameters and numbers as data, a runner, and the tables.

`data/` holds what the paper reports. `experiments` makes jobs of it, `runner` and `execution` run
them and keep one line of JSON for each, and `table_rows`, `pages`, `render` and `figures` show the
results.
"""
