"""What goes out: an sdist, wheels, a bill of materials and where they came from. `make dist` makes and tries them."""
