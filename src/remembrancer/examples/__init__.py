"""A conversation shipped with the project, in the form of docs/reference/conversation-form.md."""
