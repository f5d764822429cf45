"""What a lead does about quality: draw settled pairs for a third expert, and see what their answers prove."""
