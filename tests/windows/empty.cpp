// What a program takes that does nothing: the system's own start of it. speed.py subtracts it.
int main() {}
