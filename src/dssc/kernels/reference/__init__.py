"""The kernels in plain NumPy: slow and obvious, for comparison in tests.

Each module here has the functions of the module of the same name in :mod:`dssc.kernels`, with the
same parameters. They ignore the parameters that serve speed only, such as workspaces.
"""
