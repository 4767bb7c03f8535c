"""What is shown in the browser, or written as a page or a picture."""
