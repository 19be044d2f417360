from parcels.labels import short_name

def test_short_names_stay():
    assert short_name('  Kim   Minji ') == 'Kim Minji'

def test_long_names_are_cut():
    assert short_name('Wolfeschlegelstein') == 'Wolfeschleg…'
