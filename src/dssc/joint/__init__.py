"""X to C and A together: the joint model, J-DSSC."""
