import pytest
from parcels.rates import with_discount

@pytest.mark.parametrize(('parcels', 'cents'), [(9, 390), (10, 351)])
def test_a_tenth_off_from_ten_on(parcels, cents):
    assert with_discount(390, parcels) == cents
