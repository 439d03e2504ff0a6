"""The least that an app with a slider can be: what slider_to_paint.py measures the tutor against."""

import streamlit as st

value = st.slider("Sequence length T", 2, 64, 8)
st.text(f"T = {value}")
