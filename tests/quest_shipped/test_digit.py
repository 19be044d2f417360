from parcels.labels import check_digit

def test_the_digit():
    assert check_digit('47312482') == 9
    assert check_digit('00000000') == 5
    assert check_digit('00000006') == 2
    assert check_digit('00000008') == 0
