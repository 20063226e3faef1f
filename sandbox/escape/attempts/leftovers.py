from harness import *
