"""The workbench: look at attention in a browser, change it, and see the prediction move. A local web application."""
