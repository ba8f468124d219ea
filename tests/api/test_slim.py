from server.api.slim import slim_script


def test_comments_on_their_own_lines_and_indentation_go():
    source = "/**\n * What it does.\n */\nexport function f() {\n  // why\n  return 1;\n}\n"
    assert slim_script(source) == "export function f() {\nreturn 1;\n}\n"


def test_strings_with_slashes_stay():
    source = 'const url = "https://shop.example/"; // an address\nconst pattern = /\\/\\*\\*/;\n'
    assert slim_script(source) == source
