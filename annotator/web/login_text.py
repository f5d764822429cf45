"""What the login page says, in English, Japanese and Korean, and the choice among them."""

from collections.abc import Mapping

TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "Sign in",
        "lead": "From a pool of candidates to a ground truth you can defend.",
        "username": "Username",
        "password": "Password",
        "sign_in": "Sign in",
        "wrong": "The username or the password is wrong.",
        "limited": "Too many failed attempts. Try again in {minutes} min.",
        "sign_out_title": "Sign out",
        "sign_out_question": "Sign out of this browser?",
        "sign_out": "Sign out",
        "stay": "Back",
        "lost": "No account, or the password forgotten? Ask the admin of your dataset.",
    },
    "ja": {
        "title": "サインイン",
        "lead": "候補のプールから、根拠を示せる正解データへ。",
        "username": "ユーザー名",
        "password": "パスワード",
        "sign_in": "サインイン",
        "wrong": "ユーザー名またはパスワードが違います。",
        "limited": "失敗が続いたため、{minutes}分後にもう一度お試しください。",
        "sign_out_title": "サインアウト",
        "sign_out_question": "このブラウザーからサインアウトしますか?",
        "sign_out": "サインアウト",
        "stay": "戻る",
        "lost": "アカウントがない、またはパスワードを忘れた場合は、データセットの管理者にお問い合わせください。",
    },
    "ko": {
        "title": "로그인",
        "lead": "후보 풀에서, 근거를 댈 수 있는 정답 데이터로.",
        "username": "사용자 이름",
        "password": "비밀번호",
        "sign_in": "로그인",
        "wrong": "사용자 이름 또는 비밀번호가 올바르지 않습니다.",
        "limited": "실패가 너무 많습니다. {minutes}분 후에 다시 시도하세요.",
        "sign_out_title": "로그아웃",
        "sign_out_question": "이 브라우저에서 로그아웃할까요?",
        "sign_out": "로그아웃",
        "stay": "돌아가기",
        "lost": "계정이 없거나 비밀번호를 잊으셨다면 데이터셋 관리자에게 문의하세요.",
    },
}


def choose_language(accept_language: str) -> str:
    """The first of our languages in the order the browser prefers them; English when there is none."""
    wanted: list[tuple[float, int, str]] = []
    for place, entry in enumerate(accept_language[:500].split(",")):
        tag, _, quality = entry.strip().partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=")) if quality else 1.0
        except ValueError:
            weight = 0.0
        if weight > 0:
            wanted.append((-weight, place, tag.strip().lower().split("-")[0]))
    return next((tag for _, _, tag in sorted(wanted) if tag in TEXTS), "en")
