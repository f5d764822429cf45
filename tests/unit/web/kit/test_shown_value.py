"""A widget that shows what is true elsewhere, as Streamlit runs it."""

from streamlit.testing.v1 import AppTest


def draw() -> None:
    import streamlit as st

    from annotator.web.kit.controls import find_key, read_choice

    def take(key: str) -> None:
        st.session_state["truth"] = bool(read_choice("box", key)) or st.session_state.get("must", False)

    key, value = find_key("box", st.session_state.setdefault("truth", False))
    st.checkbox("box", value, key=key, on_change=take, args=(key,))


def test_it_stays_the_same_widget_for_whoever_changes_it() -> None:
    app = AppTest.from_function(draw).run()
    app.checkbox[0].check().run()
    assert (app.checkbox[0].key, app.checkbox[0].value, app.session_state["truth"]) == ("box 0", True, True)
    app.checkbox[0].uncheck().run()
    assert (app.checkbox[0].key, app.checkbox[0].value, app.session_state["truth"]) == ("box 0", False, False)


def test_it_is_a_new_one_that_shows_the_truth_by_default_where_something_else_changed_it() -> None:
    app = AppTest.from_function(draw).run()
    app.session_state["truth"] = True
    for _ in range(2):  # the default comes with each drawing, and no message that is sent once
        app.run()
        assert (app.checkbox[0].key, app.checkbox[0].value) == ("box 1", True)
        assert (app.checkbox[0].proto.default, app.checkbox[0].proto.set_value) == (True, False)


def test_a_change_that_is_refused_is_shown_to_be() -> None:
    app = AppTest.from_function(draw)
    app.session_state["must"] = app.session_state["truth"] = True
    app.run()
    app.checkbox[0].uncheck().run()
    assert (app.checkbox[0].key, app.checkbox[0].value) == ("box 1", True)


def report_late() -> None:
    import streamlit as st

    from annotator.web.kit.controls import find_key, read_choice

    old, _ = find_key("box", False)
    st.session_state[old] = True  # somebody else's change: it is another widget now
    key, _ = find_key("box", False)
    st.text(f"{read_choice('box', old)} {read_choice('box', key)} {read_choice('other', old)}")
    st.session_state[key] = True
    st.text(str(read_choice("box", key)))


def test_what_is_reported_of_a_widget_that_is_gone_is_no_choice() -> None:
    app = AppTest.from_function(report_late).run()
    assert [item.value for item in app.text] == ["None None None", "True"]
