"""The command `dssc`: clusters, reports and projections without writing code."""
