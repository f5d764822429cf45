"""The tables of sign-in: sessions, failed attempts, second factors, one-time links, provider accounts."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from annotator.storage.tables.columns import text_column, time_column


class ProviderIdentityRow(SQLModel, table=True):
    """A person of an OpenID Connect provider, and their account here.

    `subject`: the provider's key of the person.
    """

    __tablename__ = "provider_identity"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    pk: int | None = Field(default=None, primary_key=True)
    person_pk: int = Field(foreign_key="person.pk", index=True)
    issuer: str
    subject: str
    created_at: datetime = time_column()


class SignInRequestRow(SQLModel, table=True):
    """A sign-in at the provider that a browser has begun. Deleted when it is finished, or has taken too long.

    `token_sha256`: of the browser's cookie. `wanted`: the path to go on to.
    """

    __tablename__ = "sign_in_request"

    token_sha256: str = Field(primary_key=True)
    state_sha256: str
    nonce: str
    code_verifier: str
    redirect_uri: str = text_column()
    wanted: str = text_column()
    expires_at: datetime = time_column()


class LoginSessionRow(SQLModel, table=True):
    """A signed-in browser; only the hash of its cookie's token is stored.

    `identity_pk`, `provider_session`, `id_token`: of the OpenID Connect provider; null for a sign-in by
    password. `second_factor`: a code of a second factor was required.
    """

    __tablename__ = "login_session"

    token_sha256: str = Field(primary_key=True)
    person_pk: int = Field(foreign_key="person.pk", index=True)
    created_at: datetime = time_column()
    expires_at: datetime = time_column()
    revoked_at: datetime | None = time_column(nullable=True)
    device_sha256: str | None = None
    identity_pk: int | None = Field(default=None, foreign_key="provider_identity.pk")
    provider_session: str | None = None
    id_token: str | None = None
    second_factor: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})


class SecondFactorRow(SQLModel, table=True):
    """A person's second factor, or a notice that it was removed, until the person has seen the notice.

    `secret`: the key of the authenticator app, as `people/second_factor/codes.py` writes it. `last_step`:
    of the newest used code, in steps of 30 seconds since 1970: no code works twice. `remover_pk`: null for
    the operator.
    """

    __tablename__ = "second_factor"
    __table_args__ = (
        CheckConstraint("(secret IS NULL) = (removed_at IS NOT NULL)", name="secret_or_removed"),
        CheckConstraint("(secret IS NULL) = (confirmed_at IS NULL)", name="confirmed_iff_secret"),
    )

    person_pk: int = Field(primary_key=True, foreign_key="person.pk")
    secret: str | None = None
    confirmed_at: datetime | None = time_column(nullable=True)
    last_step: int | None = Field(default=None, sa_type=BigInteger)
    removed_at: datetime | None = time_column(nullable=True)
    remover_pk: int | None = Field(default=None, foreign_key="person.pk")


class RecoveryCodeRow(SQLModel, table=True):
    """A code that signs in once without the authenticator app; only its hash is stored.

    Deleted when it is used.
    """

    __tablename__ = "recovery_code"

    code_sha256: str = Field(primary_key=True)
    person_pk: int = Field(foreign_key="person.pk", index=True)


class HalfSignInRow(SQLModel, table=True):
    """A sign-in with a right password that still needs a second factor. Only the hash of its token is stored.

    `need`: "code", or "set-up" of a second factor.
    """

    __tablename__ = "half_sign_in"
    __table_args__ = (CheckConstraint("need IN ('code', 'set-up')", name="need"),)

    token_sha256: str = Field(primary_key=True)
    person_pk: int = Field(foreign_key="person.pk", index=True)
    need: str
    expires_at: datetime = time_column()


class UsedLogoutTokenRow(SQLModel, table=True):
    """A used logout token of the OpenID Connect provider, until it expires.

    Only the hash of its id is stored.
    """

    __tablename__ = "used_logout_token"

    token_sha256: str = Field(primary_key=True)
    expires_at: datetime = time_column()


class KnownDeviceRow(SQLModel, table=True):
    """A browser in which a person has signed in before; only the hash of its cookie's token is stored.

    `seen_at`: the latest sign-in. Several people can use one browser.
    """

    __tablename__ = "known_device"

    token_sha256: str = Field(primary_key=True)
    person_pk: int = Field(primary_key=True, foreign_key="person.pk", index=True)
    seen_at: datetime = time_column()


class LoginAttemptRow(SQLModel, table=True):
    """A failed sign-in, stored to limit guessing.

    `device_sha256`: the browser, if the person has signed in with it before.
    """

    __tablename__ = "login_attempt"
    __table_args__ = (
        Index("ix_login_attempt_username_at", "username", "at"),
        Index("ix_login_attempt_address_at", "address", "at"),
    )

    pk: int | None = Field(default=None, primary_key=True)
    username: str
    address: str
    at: datetime = time_column()
    device_sha256: str | None = None


class OneTimeLinkRow(SQLModel, table=True):
    """A one-time link; only the hash of its token is stored.

    Rows are never deleted: they record who invited whom.

    `purpose`: "setup" makes the first admin; "invitation" gives `role` on `dataset_pk` (null: on every
    dataset); "password" lets `person_pk` choose a new password. `note`: the author's note about the
    recipient. `author_pk`, `revoker_pk`: null for the operator. `user_pk`: the person who used it.
    """

    __tablename__ = "one_time_link"
    __table_args__ = (
        CheckConstraint("purpose IN ('setup', 'invitation', 'password')", name="purpose"),
        CheckConstraint("role IN ('annotator', 'lead', 'admin')", name="role"),
        CheckConstraint("(purpose = 'invitation') = (role IS NOT NULL)", name="role_iff_invitation"),
        CheckConstraint("(purpose = 'password') = (person_pk IS NOT NULL)", name="person_iff_password"),
        CheckConstraint("(used_at IS NULL) = (user_pk IS NULL)", name="user_iff_used"),
        CheckConstraint("used_at IS NULL OR revoked_at IS NULL", name="used_or_revoked"),
    )

    pk: int | None = Field(default=None, primary_key=True)
    token_sha256: str = Field(unique=True)
    purpose: str
    role: str | None = None
    dataset_pk: int | None = Field(default=None, foreign_key="dataset.pk", index=True)
    person_pk: int | None = Field(default=None, foreign_key="person.pk")
    note: str = text_column()
    author_pk: int | None = Field(default=None, foreign_key="person.pk")
    created_at: datetime = time_column()
    expires_at: datetime = time_column()
    used_at: datetime | None = time_column(nullable=True)
    user_pk: int | None = Field(default=None, foreign_key="person.pk")
    revoked_at: datetime | None = time_column(nullable=True)
    revoker_pk: int | None = Field(default=None, foreign_key="person.pk")
