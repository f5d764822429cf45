"""What the attacks share. A fixture of other tests is named here where an attack needs the same world."""

from tests.unit.web.served_release import published_once as published_once
from tests.unit.web.served_release import served as served
