"""Reading of samples and labels from files and folders of images."""
