"""The character, the scenes and the engines that simulate them."""
