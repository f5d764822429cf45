CREATE FUNCTION public.adjudication_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'adjudication is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.audit_event_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'audit_event is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.document_order_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'document_order is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.import_record_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'import_record is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.imported_qrel_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'imported_qrel is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.judgment_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'judgment is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.pair_of_provenance_stays() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF current_setting('transaction_isolation') = 'repeatable read' THEN
    RAISE feature_not_supported USING MESSAGE = 'pairs are deleted in READ COMMITTED or SERIALIZABLE transactions only';
  END IF;
  IF EXISTS (SELECT 1 FROM provenance WHERE pair_pk = OLD.pk) THEN
    RAISE foreign_key_violation USING
      MESSAGE = 'update or delete on table "pair" violates foreign key constraint "fk_provenance_pair_pk" on table "provenance"',
      DETAIL = format('Key (pk)=(%s) is still referenced from table "provenance".', OLD.pk),
      TABLE = 'provenance', CONSTRAINT = 'fk_provenance_pair_pk';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION public.provenance_has_its_pair() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE missing integer;
BEGIN
  PERFORM 1 FROM pair WHERE pk IN (SELECT pair_pk FROM added) FOR KEY SHARE;
  SELECT a.pair_pk INTO missing FROM added a WHERE NOT EXISTS (SELECT 1 FROM pair p WHERE p.pk = a.pair_pk) LIMIT 1;
  IF FOUND THEN
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "provenance" violates foreign key constraint "fk_provenance_pair_pk"',
      DETAIL = format('Key (pair_pk)=(%s) is not present in table "pair".', missing),
      TABLE = 'provenance', CONSTRAINT = 'fk_provenance_pair_pk';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION public.release_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'release is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.release_qrel_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'release_qrel is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.release_query_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'release_query is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.remap_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'remap is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE FUNCTION public.rubric_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'rubric is append-only' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TABLE public.adjudication (
    pk integer NOT NULL,
    pair_pk integer NOT NULL,
    revision integer NOT NULL,
    lead_pk integer NOT NULL,
    rubric_pk integer NOT NULL,
    grade integer,
    rationale text NOT NULL,
    reason text,
    decided_at timestamp with time zone NOT NULL,
    outcome character varying DEFAULT 'graded'::character varying NOT NULL,
    cause character varying,
    in_guideline boolean DEFAULT false NOT NULL,
    seconds double precision,
    batch_pk integer,
    CONSTRAINT ck_adjudication_cause CHECK (((cause)::text = ANY ((ARRAY['guideline_gap'::character varying, 'ambiguous_query'::character varying, 'misread_document'::character varying, 'missing_knowledge'::character varying, 'slip'::character varying, 'borderline'::character varying])::text[]))),
    CONSTRAINT ck_adjudication_grade CHECK ((grade = ANY (ARRAY[0, 1, 2, 3]))),
    CONSTRAINT ck_adjudication_grade_iff_graded CHECK ((((outcome)::text = 'graded'::text) = (grade IS NOT NULL))),
    CONSTRAINT ck_adjudication_outcome CHECK (((outcome)::text = ANY ((ARRAY['graded'::character varying, 'unrateable'::character varying, 'withdrawn'::character varying])::text[]))),
    CONSTRAINT ck_adjudication_revision CHECK ((revision >= 1)),
    CONSTRAINT ck_adjudication_seconds CHECK ((seconds >= (0)::double precision))
);
CREATE SEQUENCE public.adjudication_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.adjudication_pk_seq OWNED BY public.adjudication.pk;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.assignment (
    query_pk integer NOT NULL,
    person_pk integer NOT NULL,
    assigned_by_pk integer,
    assigned_at timestamp with time zone NOT NULL
);
CREATE TABLE public.audit_event (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    pair_pk integer,
    person_pk integer,
    action character varying NOT NULL,
    before json,
    after json,
    at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.audit_event_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.audit_event_pk_seq OWNED BY public.audit_event.pk;
CREATE TABLE public.case_assignment (
    pair_pk integer NOT NULL,
    lead_pk integer NOT NULL,
    assigned_by_pk integer,
    assigned_at timestamp with time zone NOT NULL
);
CREATE TABLE public.case_hold (
    pair_pk integer NOT NULL,
    lead_pk integer NOT NULL,
    tab text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.case_later (
    pair_pk integer NOT NULL,
    lead_pk integer NOT NULL,
    put_off_at timestamp with time zone NOT NULL
);
CREATE TABLE public.check_pair (
    pair_pk integer NOT NULL,
    kind character varying NOT NULL,
    grade integer NOT NULL,
    explanation text NOT NULL,
    marked_by_pk integer,
    marked_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_check_pair_grade CHECK ((grade = ANY (ARRAY[0, 1, 2, 3]))),
    CONSTRAINT ck_check_pair_kind CHECK (((kind)::text = ANY ((ARRAY['training'::character varying, 'gold'::character varying])::text[])))
);
CREATE TABLE public.current_adjudication (
    pair_pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    adjudication_pk integer NOT NULL,
    lead_pk integer NOT NULL,
    outcome character varying NOT NULL,
    grade integer,
    decided_at timestamp with time zone NOT NULL
);
CREATE TABLE public.current_judgment (
    pair_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    judgment_pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    outcome character varying NOT NULL,
    grade integer,
    purpose character varying NOT NULL,
    stale integer DEFAULT 0 NOT NULL,
    rubric_pk integer,
    seconds double precision,
    made_at bigint,
    imported integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.dataset (
    pk integer NOT NULL,
    name character varying NOT NULL,
    title text NOT NULL,
    language character varying,
    overlap integer NOT NULL,
    kappa_target double precision NOT NULL,
    lease_minutes integer NOT NULL,
    seed integer NOT NULL,
    list_grade_0 boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    requirements json,
    overlap_rules json,
    training_score double precision DEFAULT 0.8 NOT NULL,
    gold_rate double precision DEFAULT 0.0 NOT NULL,
    repeat_rate double precision DEFAULT 0.0 NOT NULL,
    repeat_after integer DEFAULT 30 NOT NULL,
    idle_seconds integer DEFAULT 120 NOT NULL,
    shown_metadata json,
    quality_rule character varying DEFAULT 'bound'::character varying NOT NULL,
    show_own_agreement boolean DEFAULT false NOT NULL,
    second_adjudicator boolean DEFAULT false NOT NULL,
    discuss_from integer,
    authors text,
    contact text,
    licence text,
    source text,
    search_hosts json,
    archived_at timestamp with time zone,
    profile character varying DEFAULT 'trec'::character varying NOT NULL,
    CONSTRAINT ck_dataset_discuss_from CHECK (((discuss_from >= 1) AND (discuss_from <= 3))),
    CONSTRAINT ck_dataset_gold_rate CHECK (((gold_rate >= (0)::double precision) AND (gold_rate <= (0.5)::double precision))),
    CONSTRAINT ck_dataset_idle_seconds CHECK (((idle_seconds >= 10) AND (idle_seconds <= 3600))),
    CONSTRAINT ck_dataset_kappa_target CHECK (((kappa_target >= ('-1'::integer)::double precision) AND (kappa_target <= (1)::double precision))),
    CONSTRAINT ck_dataset_lease_minutes CHECK (((lease_minutes >= 1) AND (lease_minutes <= 10080))),
    CONSTRAINT ck_dataset_overlap CHECK (((overlap >= 1) AND (overlap <= 20))),
    CONSTRAINT ck_dataset_profile CHECK (((profile)::text = ANY ((ARRAY['trec'::character varying, 'nablarch'::character varying, 'law'::character varying, 'survey'::character varying, 'code'::character varying, 'document'::character varying])::text[]))),
    CONSTRAINT ck_dataset_quality_rule CHECK (((quality_rule)::text = ANY ((ARRAY['bound'::character varying, 'rate'::character varying])::text[]))),
    CONSTRAINT ck_dataset_repeat_after CHECK (((repeat_after >= 1) AND (repeat_after <= 10000))),
    CONSTRAINT ck_dataset_repeat_rate CHECK (((repeat_rate >= (0)::double precision) AND (repeat_rate <= (0.5)::double precision))),
    CONSTRAINT ck_dataset_training_score CHECK (((training_score >= (0)::double precision) AND (training_score <= (1)::double precision)))
);
CREATE SEQUENCE public.dataset_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.dataset_pk_seq OWNED BY public.dataset.pk;
CREATE TABLE public.decision_proposal (
    pair_pk integer NOT NULL,
    lead_pk integer NOT NULL,
    outcome character varying NOT NULL,
    grade integer,
    rationale text NOT NULL,
    cause character varying,
    in_guideline boolean NOT NULL,
    proposed_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_decision_proposal_grade_iff_graded CHECK ((((outcome)::text = 'graded'::text) = (grade IS NOT NULL))),
    CONSTRAINT ck_decision_proposal_outcome CHECK (((outcome)::text = ANY ((ARRAY['graded'::character varying, 'unrateable'::character varying])::text[])))
);
CREATE TABLE public.disclosure (
    pair_pk integer NOT NULL,
    person_pk integer NOT NULL,
    disclosed_at timestamp with time zone NOT NULL
);
CREATE TABLE public.discussion (
    pair_pk integer NOT NULL,
    asked_by_pk integer NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone
);
CREATE TABLE public.discussion_turn (
    pair_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    outcome character varying NOT NULL,
    grade integer,
    revised boolean NOT NULL,
    note text,
    said_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_discussion_turn_grade_iff_graded CHECK ((((outcome)::text = 'graded'::text) = (grade IS NOT NULL))),
    CONSTRAINT ck_discussion_turn_outcome CHECK (((outcome)::text = ANY ((ARRAY['graded'::character varying, 'unrateable'::character varying])::text[])))
);
CREATE TABLE public.dispute (
    pair_pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    query_pk integer NOT NULL,
    open boolean NOT NULL,
    reasons integer NOT NULL,
    waiting integer NOT NULL,
    distance integer NOT NULL,
    low integer,
    high integer,
    since timestamp with time zone NOT NULL,
    impact double precision NOT NULL,
    recall_impact double precision,
    mrr_impact double precision,
    flips integer,
    taste boolean NOT NULL
);
CREATE TABLE public.document (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    doc_id text NOT NULL,
    title text NOT NULL,
    url text,
    media_type character varying NOT NULL,
    text_sha256 character varying,
    extra json NOT NULL
);
CREATE TABLE public.document_order (
    pk integer NOT NULL,
    query_pk integer NOT NULL,
    lead_pk integer NOT NULL,
    pair_pks json NOT NULL,
    ordered_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.document_order_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.document_order_pk_seq OWNED BY public.document_order.pk;
CREATE SEQUENCE public.document_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.document_pk_seq OWNED BY public.document.pk;
CREATE TABLE public.document_text (
    document_pk integer NOT NULL,
    sha256 character varying NOT NULL,
    text text NOT NULL,
    imported_at timestamp with time zone NOT NULL
);
CREATE TABLE public.guideline_decision (
    rubric_pk integer NOT NULL,
    adjudication_pk integer NOT NULL
);
CREATE TABLE public.import_record (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    kind character varying NOT NULL,
    path text NOT NULL,
    sha256 character varying,
    format character varying,
    system text,
    imported_by integer,
    imported_at timestamp with time zone NOT NULL,
    options json NOT NULL,
    figures json NOT NULL,
    declared json,
    CONSTRAINT ck_import_record_kind CHECK (((kind)::text = ANY ((ARRAY['queries'::character varying, 'documents'::character varying, 'run'::character varying, 'pairs'::character varying, 'judgments'::character varying, 'qrels'::character varying])::text[])))
);
CREATE SEQUENCE public.import_record_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.import_record_pk_seq OWNED BY public.import_record.pk;
CREATE TABLE public.imported_qrel (
    pk integer NOT NULL,
    pair_pk integer NOT NULL,
    grade integer NOT NULL,
    keep boolean NOT NULL,
    source json NOT NULL,
    description text,
    note text,
    annotator_grades json NOT NULL,
    extra json NOT NULL,
    imported_at timestamp with time zone NOT NULL,
    import_record_pk integer,
    CONSTRAINT ck_imported_qrel_grade CHECK ((grade = ANY (ARRAY[0, 1, 2, 3])))
);
CREATE SEQUENCE public.imported_qrel_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.imported_qrel_pk_seq OWNED BY public.imported_qrel.pk;
CREATE TABLE public.judgment (
    pk integer NOT NULL,
    event_id character varying NOT NULL,
    pair_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    rubric_pk integer NOT NULL,
    outcome character varying NOT NULL,
    grade integer,
    note text,
    purpose character varying NOT NULL,
    document_sha256 character varying,
    judged_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    seconds double precision,
    reason character varying,
    import_record_pk integer,
    browser character varying,
    browser_number bigint,
    late boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_judgment_browser_number_iff_browser CHECK (((browser IS NULL) = (browser_number IS NULL))),
    CONSTRAINT ck_judgment_grade CHECK ((grade = ANY (ARRAY[0, 1, 2, 3]))),
    CONSTRAINT ck_judgment_grade_iff_graded CHECK ((((outcome)::text = 'graded'::text) = (grade IS NOT NULL))),
    CONSTRAINT ck_judgment_outcome CHECK (((outcome)::text = ANY ((ARRAY['graded'::character varying, 'unrateable'::character varying, 'later'::character varying])::text[]))),
    CONSTRAINT ck_judgment_reason CHECK (((reason)::text = ANY ((ARRAY['unreadable'::character varying, 'wrong_language'::character varying, 'document_missing'::character varying, 'query_unclear'::character varying, 'other'::character varying])::text[]))),
    CONSTRAINT ck_judgment_seconds CHECK ((seconds >= (0)::double precision))
);
CREATE SEQUENCE public.judgment_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.judgment_pk_seq OWNED BY public.judgment.pk;
CREATE TABLE public.known_device (
    token_sha256 character varying NOT NULL,
    person_pk integer NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
CREATE TABLE public.lease (
    pair_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    tab text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.left_out (
    round_pk integer NOT NULL,
    query_pk integer NOT NULL,
    document_pk integer NOT NULL,
    rule text NOT NULL,
    kept_document_pk integer
);
CREATE TABLE public.login_attempt (
    pk integer NOT NULL,
    username character varying NOT NULL,
    address character varying NOT NULL,
    at timestamp with time zone NOT NULL,
    device_sha256 character varying
);
CREATE SEQUENCE public.login_attempt_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.login_attempt_pk_seq OWNED BY public.login_attempt.pk;
CREATE TABLE public.login_session (
    token_sha256 character varying NOT NULL,
    person_pk integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    device_sha256 character varying
);
CREATE TABLE public.membership (
    pk integer NOT NULL,
    person_pk integer NOT NULL,
    dataset_pk integer,
    role character varying NOT NULL,
    categories json,
    languages json,
    CONSTRAINT ck_membership_role CHECK (((role)::text = ANY ((ARRAY['annotator'::character varying, 'lead'::character varying, 'admin'::character varying])::text[])))
);
CREATE SEQUENCE public.membership_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.membership_pk_seq OWNED BY public.membership.pk;
CREATE TABLE public.objection (
    pair_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    adjudication_pk integer NOT NULL,
    text text NOT NULL,
    objected_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_objection_text CHECK ((length(TRIM(BOTH FROM text)) > 0))
);
CREATE TABLE public.one_time_link (
    pk integer NOT NULL,
    token_sha256 character varying NOT NULL,
    purpose character varying NOT NULL,
    role character varying,
    dataset_pk integer,
    person_pk integer,
    note text NOT NULL,
    author_pk integer,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    user_pk integer,
    revoked_at timestamp with time zone,
    revoker_pk integer,
    CONSTRAINT ck_one_time_link_person_iff_password CHECK ((((purpose)::text = 'password'::text) = (person_pk IS NOT NULL))),
    CONSTRAINT ck_one_time_link_purpose CHECK (((purpose)::text = ANY ((ARRAY['setup'::character varying, 'invitation'::character varying, 'password'::character varying])::text[]))),
    CONSTRAINT ck_one_time_link_role CHECK (((role)::text = ANY ((ARRAY['annotator'::character varying, 'lead'::character varying, 'admin'::character varying])::text[]))),
    CONSTRAINT ck_one_time_link_role_iff_invitation CHECK ((((purpose)::text = 'invitation'::text) = (role IS NOT NULL))),
    CONSTRAINT ck_one_time_link_used_or_revoked CHECK (((used_at IS NULL) OR (revoked_at IS NULL))),
    CONSTRAINT ck_one_time_link_user_iff_used CHECK (((used_at IS NULL) = (user_pk IS NULL)))
);
CREATE SEQUENCE public.one_time_link_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.one_time_link_pk_seq OWNED BY public.one_time_link.pk;
CREATE TABLE public.pair (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    query_pk integer NOT NULL,
    document_pk integer NOT NULL,
    key character varying NOT NULL,
    judged integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    kept boolean DEFAULT false NOT NULL,
    retired_at timestamp with time zone,
    wanted integer DEFAULT 0 NOT NULL,
    lacking integer DEFAULT 0 NOT NULL
);
CREATE SEQUENCE public.pair_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.pair_pk_seq OWNED BY public.pair.pk;
CREATE TABLE public.person (
    pk integer NOT NULL,
    username character varying NOT NULL,
    name text NOT NULL,
    password_hash character varying,
    must_change_password boolean NOT NULL,
    simulated boolean NOT NULL,
    disabled_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    language character varying
);
CREATE SEQUENCE public.person_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.person_pk_seq OWNED BY public.person.pk;
CREATE TABLE public.pool_round (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    number integer NOT NULL,
    made_at timestamp with time zone NOT NULL,
    made_by integer,
    strategy character varying NOT NULL,
    options json NOT NULL,
    figures json NOT NULL,
    CONSTRAINT ck_pool_round_number CHECK ((number >= 1))
);
CREATE SEQUENCE public.pool_round_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.pool_round_pk_seq OWNED BY public.pool_round.pk;
CREATE TABLE public.proposal (
    pair_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    proposed_at timestamp with time zone NOT NULL
);
CREATE TABLE public.provenance (
    pair_pk integer NOT NULL,
    system character varying NOT NULL,
    rank integer,
    score double precision,
    signals json NOT NULL
);
CREATE TABLE public.pseudonym (
    dataset_pk integer NOT NULL,
    person_pk integer NOT NULL,
    number integer NOT NULL
);
CREATE TABLE public.quality_draw (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    number integer NOT NULL,
    round integer NOT NULL,
    annotator_pk integer NOT NULL,
    drawn_by_pk integer,
    rate double precision NOT NULL,
    seed integer NOT NULL,
    population integer NOT NULL,
    outside integer NOT NULL,
    drawn_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_quality_draw_outside CHECK ((outside >= 0)),
    CONSTRAINT ck_quality_draw_population CHECK ((population >= 1)),
    CONSTRAINT ck_quality_draw_rate CHECK (((rate > (0)::double precision) AND (rate <= (1)::double precision))),
    CONSTRAINT ck_quality_draw_round CHECK ((round >= 1))
);
CREATE SEQUENCE public.quality_draw_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.quality_draw_pk_seq OWNED BY public.quality_draw.pk;
CREATE TABLE public.quality_pair (
    draw_pk integer NOT NULL,
    pair_pk integer NOT NULL,
    settled_grade integer NOT NULL,
    settled_by character varying NOT NULL,
    judgment_pk integer,
    outcome character varying,
    grade integer,
    answered_at timestamp with time zone,
    CONSTRAINT ck_quality_pair_grade CHECK ((grade = ANY (ARRAY[0, 1, 2, 3]))),
    CONSTRAINT ck_quality_pair_outcome CHECK (((outcome)::text = ANY ((ARRAY['graded'::character varying, 'unrateable'::character varying])::text[]))),
    CONSTRAINT ck_quality_pair_settled_grade CHECK ((settled_grade = ANY (ARRAY[0, 1, 2, 3])))
);
CREATE TABLE public.query (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    "position" integer NOT NULL,
    query_id text NOT NULL,
    text text NOT NULL,
    category text,
    language text,
    query_type text,
    difficulty text,
    primary_domain text,
    narrative text,
    extra json NOT NULL
);
CREATE TABLE public.query_answers (
    query_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    answered integer NOT NULL,
    answered_open integer NOT NULL
);
CREATE SEQUENCE public.query_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.query_pk_seq OWNED BY public.query.pk;
CREATE TABLE public.query_score (
    query_pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    scores json NOT NULL
);
CREATE TABLE public.query_work (
    query_pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    open_pairs integer NOT NULL,
    begun_pairs integer NOT NULL
);
CREATE TABLE public.question (
    pk integer NOT NULL,
    pair_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    text text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    answer text,
    answered_by_pk integer,
    answered_at timestamp with time zone,
    in_guideline boolean DEFAULT false NOT NULL
);
CREATE SEQUENCE public.question_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.question_pk_seq OWNED BY public.question.pk;
CREATE TABLE public.release (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    version character varying NOT NULL,
    published_by integer,
    created_at timestamp with time zone NOT NULL,
    note text NOT NULL,
    content_sha256 character varying NOT NULL,
    sums text NOT NULL,
    manifest json NOT NULL,
    signature text
);
CREATE SEQUENCE public.release_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.release_pk_seq OWNED BY public.release.pk;
CREATE TABLE public.release_qrel (
    release_pk integer NOT NULL,
    "position" integer NOT NULL,
    query_id text NOT NULL,
    doc_id text NOT NULL,
    grade integer NOT NULL,
    origin character varying NOT NULL,
    judgments text,
    adjudication_pk integer,
    imported_qrel_pk integer,
    CONSTRAINT ck_release_qrel_grade CHECK ((grade = ANY (ARRAY[0, 1, 2, 3])))
);
CREATE TABLE public.release_query (
    release_pk integer NOT NULL,
    "position" integer NOT NULL,
    query_id text NOT NULL,
    text text NOT NULL
);
CREATE TABLE public.remap (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    old_doc_id text NOT NULL,
    new_doc_id text NOT NULL,
    kind character varying NOT NULL,
    remapped_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_remap_kind CHECK (((kind)::text = ANY ((ARRAY['renamed'::character varying, 'split'::character varying, 'merged'::character varying])::text[])))
);
CREATE SEQUENCE public.remap_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.remap_pk_seq OWNED BY public.remap.pk;
CREATE TABLE public.repeated_pair (
    pk integer NOT NULL,
    key character varying NOT NULL,
    pair_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    handed_at timestamp with time zone NOT NULL,
    answered_at timestamp with time zone
);
CREATE SEQUENCE public.repeated_pair_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.repeated_pair_pk_seq OWNED BY public.repeated_pair.pk;
CREATE TABLE public.round_pair (
    pair_pk integer NOT NULL,
    round_pk integer NOT NULL,
    stratum text,
    inclusion double precision,
    CONSTRAINT ck_round_pair_inclusion CHECK (((inclusion > (0)::double precision) AND (inclusion <= (1)::double precision)))
);
CREATE TABLE public.rubric (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    version integer NOT NULL,
    title text NOT NULL,
    guideline text NOT NULL,
    grades json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    change character varying DEFAULT 'semantic'::character varying NOT NULL,
    why text,
    author_pk integer,
    language text,
    translations json DEFAULT '[]'::json NOT NULL,
    CONSTRAINT ck_rubric_change CHECK (((change)::text = ANY ((ARRAY['minor'::character varying, 'semantic'::character varying])::text[]))),
    CONSTRAINT ck_rubric_language CHECK ((language <> ''::text))
);
CREATE SEQUENCE public.rubric_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.rubric_pk_seq OWNED BY public.rubric.pk;
CREATE TABLE public.run (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    system character varying NOT NULL,
    content_sha256 character varying NOT NULL,
    imported_at timestamp with time zone NOT NULL,
    import_record_pk integer,
    query_signals json DEFAULT '{}'::json NOT NULL
);
CREATE TABLE public.run_entry (
    run_pk integer NOT NULL,
    query_pk integer NOT NULL,
    document_pk integer NOT NULL,
    rank integer NOT NULL,
    score double precision,
    signals json NOT NULL
);
CREATE SEQUENCE public.run_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.run_pk_seq OWNED BY public.run.pk;
CREATE TABLE public.score_due (
    query_pk integer NOT NULL,
    dataset_pk integer NOT NULL
);
CREATE TABLE public.score_total (
    dataset_pk integer NOT NULL,
    queries integer NOT NULL,
    scores json NOT NULL
);
CREATE TABLE public.seen_answer (
    question_pk integer NOT NULL,
    answered_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
CREATE TABLE public.seen_decision (
    pair_pk integer NOT NULL,
    person_pk integer NOT NULL,
    adjudication_pk integer NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
CREATE TABLE public.settle_batch (
    pk integer NOT NULL,
    dataset_pk integer NOT NULL,
    lead_pk integer NOT NULL,
    policy character varying NOT NULL,
    rationale text NOT NULL,
    pairs integer NOT NULL,
    made_at timestamp with time zone NOT NULL,
    undone_at timestamp with time zone,
    undone_by_pk integer,
    CONSTRAINT ck_settle_batch_policy CHECK (((policy)::text = ANY ((ARRAY['median'::character varying, 'lower'::character varying, 'higher'::character varying])::text[])))
);
CREATE SEQUENCE public.settle_batch_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.settle_batch_pk_seq OWNED BY public.settle_batch.pk;
CREATE TABLE public.told_progress (
    dataset_pk integer NOT NULL,
    annotator_pk integer NOT NULL,
    answered integer NOT NULL,
    done integer NOT NULL,
    total integer NOT NULL,
    reserve_until integer,
    CONSTRAINT ck_told_progress_done CHECK ((done <= total))
);
ALTER TABLE ONLY public.adjudication ALTER COLUMN pk SET DEFAULT nextval('public.adjudication_pk_seq'::regclass);
ALTER TABLE ONLY public.audit_event ALTER COLUMN pk SET DEFAULT nextval('public.audit_event_pk_seq'::regclass);
ALTER TABLE ONLY public.dataset ALTER COLUMN pk SET DEFAULT nextval('public.dataset_pk_seq'::regclass);
ALTER TABLE ONLY public.document ALTER COLUMN pk SET DEFAULT nextval('public.document_pk_seq'::regclass);
ALTER TABLE ONLY public.document_order ALTER COLUMN pk SET DEFAULT nextval('public.document_order_pk_seq'::regclass);
ALTER TABLE ONLY public.import_record ALTER COLUMN pk SET DEFAULT nextval('public.import_record_pk_seq'::regclass);
ALTER TABLE ONLY public.imported_qrel ALTER COLUMN pk SET DEFAULT nextval('public.imported_qrel_pk_seq'::regclass);
ALTER TABLE ONLY public.judgment ALTER COLUMN pk SET DEFAULT nextval('public.judgment_pk_seq'::regclass);
ALTER TABLE ONLY public.login_attempt ALTER COLUMN pk SET DEFAULT nextval('public.login_attempt_pk_seq'::regclass);
ALTER TABLE ONLY public.membership ALTER COLUMN pk SET DEFAULT nextval('public.membership_pk_seq'::regclass);
ALTER TABLE ONLY public.one_time_link ALTER COLUMN pk SET DEFAULT nextval('public.one_time_link_pk_seq'::regclass);
ALTER TABLE ONLY public.pair ALTER COLUMN pk SET DEFAULT nextval('public.pair_pk_seq'::regclass);
ALTER TABLE ONLY public.person ALTER COLUMN pk SET DEFAULT nextval('public.person_pk_seq'::regclass);
ALTER TABLE ONLY public.pool_round ALTER COLUMN pk SET DEFAULT nextval('public.pool_round_pk_seq'::regclass);
ALTER TABLE ONLY public.quality_draw ALTER COLUMN pk SET DEFAULT nextval('public.quality_draw_pk_seq'::regclass);
ALTER TABLE ONLY public.query ALTER COLUMN pk SET DEFAULT nextval('public.query_pk_seq'::regclass);
ALTER TABLE ONLY public.question ALTER COLUMN pk SET DEFAULT nextval('public.question_pk_seq'::regclass);
ALTER TABLE ONLY public.release ALTER COLUMN pk SET DEFAULT nextval('public.release_pk_seq'::regclass);
ALTER TABLE ONLY public.remap ALTER COLUMN pk SET DEFAULT nextval('public.remap_pk_seq'::regclass);
ALTER TABLE ONLY public.repeated_pair ALTER COLUMN pk SET DEFAULT nextval('public.repeated_pair_pk_seq'::regclass);
ALTER TABLE ONLY public.rubric ALTER COLUMN pk SET DEFAULT nextval('public.rubric_pk_seq'::regclass);
ALTER TABLE ONLY public.run ALTER COLUMN pk SET DEFAULT nextval('public.run_pk_seq'::regclass);
ALTER TABLE ONLY public.settle_batch ALTER COLUMN pk SET DEFAULT nextval('public.settle_batch_pk_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0023');
INSERT INTO public.dataset ("pk", "name", "title", "language", "authors", "contact", "licence", "source", "overlap", "kappa_target", "lease_minutes", "seed", "list_grade_0", "requirements", "overlap_rules", "training_score", "gold_rate", "repeat_rate", "repeat_after", "idle_seconds", "shown_metadata", "quality_rule", "show_own_agreement", "second_adjudicator", "discuss_from", "search_hosts", "profile", "archived_at", "created_at") VALUES (1, '検索-법령', '検索-법령', NULL, NULL, NULL, NULL, NULL, 2, 0.7, 60, 7, FALSE, NULL, NULL, 0.8, 0.0, 0.0, 30, 120, NULL, 'bound', FALSE, FALSE, NULL, NULL, 'trec', NULL, '2026-03-04 05:06:07.000000+00');
SELECT setval(pg_get_serial_sequence('public.dataset', 'pk'), (SELECT max(pk) FROM public.dataset));
INSERT INTO public.login_attempt ("pk", "username", "address", "at", "device_sha256") VALUES (1, '花子', '127.0.0.1', '2026-03-07 05:06:07.123456+00', 'dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd');
SELECT setval(pg_get_serial_sequence('public.login_attempt', 'pk'), (SELECT max(pk) FROM public.login_attempt));
INSERT INTO public.person ("pk", "username", "name", "password_hash", "must_change_password", "simulated", "language", "disabled_at", "created_at") VALUES (1, '花子', '花子 Realname', '$argon2id$v=19$m=65536,t=3,p=4$x', FALSE, FALSE, NULL, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.person ("pk", "username", "name", "password_hash", "must_change_password", "simulated", "language", "disabled_at", "created_at") VALUES (2, '민준', '민준 Realname', NULL, FALSE, FALSE, NULL, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.person ("pk", "username", "name", "password_hash", "must_change_password", "simulated", "language", "disabled_at", "created_at") VALUES (3, 'editor', 'editor Realname', NULL, FALSE, FALSE, NULL, NULL, '2026-03-04 05:06:07.000000+00');
SELECT setval(pg_get_serial_sequence('public.person', 'pk'), (SELECT max(pk) FROM public.person));
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (1, 1, 'Q1/zero', '題 Q1/zero', NULL, 'text/plain', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '{}');
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (2, 1, 'Q1/two', '題 Q1/two', NULL, 'text/plain', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '{}');
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (3, 1, 'Q1/three', '題 Q1/three', NULL, 'text/plain', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '{}');
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (4, 1, 'Q1/one', '題 Q1/one', NULL, 'text/plain', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '{}');
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (5, 1, '법률_제17조', '제17조', NULL, 'text/plain', NULL, '{"law_type": "\ubc95\ub960"}');
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (6, 1, 'é🎯', '', NULL, 'text/plain', NULL, '{}');
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (7, 1, 'é', '', NULL, 'text/plain', NULL, '{}');
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (8, 1, 'مستند', '', NULL, 'text/plain', NULL, '{}');
INSERT INTO public.document ("pk", "dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra") VALUES (9, 1, 'unjudged', '', NULL, 'text/plain', NULL, '{}');
SELECT setval(pg_get_serial_sequence('public.document', 'pk'), (SELECT max(pk) FROM public.document));
INSERT INTO public.import_record ("pk", "dataset_pk", "kind", "path", "sha256", "format", "system", "imported_by", "imported_at", "options", "figures", "declared") VALUES (1, 1, 'queries', '질의 🎯.yaml', NULL, NULL, NULL, NULL, '2026-03-07 05:06:07.123456+00', '{"a": 1.5}', '{}', NULL);
SELECT setval(pg_get_serial_sequence('public.import_record', 'pk'), (SELECT max(pk) FROM public.import_record));
INSERT INTO public.known_device ("token_sha256", "person_pk", "seen_at") VALUES ('eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', 1, '2026-03-07 05:06:07.123456+00');
INSERT INTO public.login_session ("token_sha256", "person_pk", "created_at", "expires_at", "revoked_at", "device_sha256") VALUES ('ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff', 1, '2026-03-07 05:06:07.123456+00', '2026-03-07 05:06:07.123456+00', NULL, NULL);
INSERT INTO public.membership ("pk", "person_pk", "dataset_pk", "role", "categories", "languages") VALUES (1, 1, 1, 'annotator', NULL, NULL);
INSERT INTO public.membership ("pk", "person_pk", "dataset_pk", "role", "categories", "languages") VALUES (2, 2, 1, 'annotator', NULL, NULL);
INSERT INTO public.membership ("pk", "person_pk", "dataset_pk", "role", "categories", "languages") VALUES (3, 3, 1, 'lead', NULL, NULL);
SELECT setval(pg_get_serial_sequence('public.membership', 'pk'), (SELECT max(pk) FROM public.membership));
INSERT INTO public.one_time_link ("pk", "token_sha256", "purpose", "role", "dataset_pk", "person_pk", "note", "author_pk", "created_at", "expires_at", "used_at", "user_pk", "revoked_at", "revoker_pk") VALUES (1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'invitation', 'annotator', 1, NULL, '민지에게', 3, '2026-03-07 05:06:07.123456+00', '2026-03-14 05:06:07.123456+00', NULL, NULL, NULL, NULL);
SELECT setval(pg_get_serial_sequence('public.one_time_link', 'pk'), (SELECT max(pk) FROM public.one_time_link));
INSERT INTO public.pool_round ("pk", "dataset_pk", "number", "made_at", "made_by", "strategy", "options", "figures") VALUES (1, 1, 1, '2026-03-07 05:06:07.123456+00', NULL, 'depth', '{"depth": 3}', '{"\u03a3": [0.1, 1e+300]}');
SELECT setval(pg_get_serial_sequence('public.pool_round', 'pk'), (SELECT max(pk) FROM public.pool_round));
INSERT INTO public.pseudonym ("dataset_pk", "person_pk", "number") VALUES (1, 1, 2);
INSERT INTO public.pseudonym ("dataset_pk", "person_pk", "number") VALUES (1, 2, 1);
INSERT INTO public.pseudonym ("dataset_pk", "person_pk", "number") VALUES (1, 3, 3);
INSERT INTO public.quality_draw ("pk", "dataset_pk", "number", "round", "annotator_pk", "drawn_by_pk", "rate", "seed", "population", "outside", "drawn_at") VALUES (1, 1, 1, 1, 1, NULL, 0.1, 3, 40, 2, '2026-03-07 05:06:07.123456+00');
SELECT setval(pg_get_serial_sequence('public.quality_draw', 'pk'), (SELECT max(pk) FROM public.quality_draw));
INSERT INTO public.query ("pk", "dataset_pk", "position", "query_id", "text", "category", "language", "query_type", "difficulty", "primary_domain", "narrative", "extra") VALUES (1, 1, 1, 'Q1', 'RESTful Webサービスの構成: yes #1', 'handler', 'ja', NULL, 'easy', NULL, NULL, '{"needs_a2a": false, "needs_rne": true}');
INSERT INTO public.query ("pk", "dataset_pk", "position", "query_id", "text", "category", "language", "query_type", "difficulty", "primary_domain", "narrative", "extra") VALUES (2, 1, 2, 'Q2', '17조 "검색"
', NULL, NULL, 'specific_article', NULL, '도시계획', NULL, '{}');
INSERT INTO public.query ("pk", "dataset_pk", "position", "query_id", "text", "category", "language", "query_type", "difficulty", "primary_domain", "narrative", "extra") VALUES (3, 1, 3, 'Q3', 'no', NULL, 'en', NULL, NULL, NULL, NULL, '{}');
SELECT setval(pg_get_serial_sequence('public.query', 'pk'), (SELECT max(pk) FROM public.query));
INSERT INTO public.release ("pk", "dataset_pk", "version", "published_by", "created_at", "note", "content_sha256", "sums", "manifest", "signature") VALUES (1, 1, '1.0.0', 3, '2026-03-04 05:06:07.000000+00', '', '146a90cbca71c9b3538f36cc360085bfa8c12dd7832c061c0acf2947e91890a2', '73c3d6b2d1c8a0945d2e2621fda0322201b19e8138f076e39d0a770cb3c88a31  CHANGES.md
9958e5c40dae389bd51b6fef4a89209adbe5b0aae52b03f3e9e03dbc957d662d  DATASHEET.md
345cdf6de2063c8d920c0e55991fb0ee904b3ec5a7f87c29e023625e11e11d30  assay-queries.yaml
38680ec64ce28e99807ec31c38f27869ce1d206f550268394eccec7389581b5a  assay.yaml
038cb9894192964dbd94b03fac6879674c6a86b118bf6837ca7e06afbe2485b8  beir/corpus.jsonl
a2c03b5b59439e31d15059de4816b62e04e75e9b7211a43c43bd629413395dae  beir/qrels/test.tsv
0c8dc54ea970b779cbf389d53d19d792a847eaffd5395fe1f188afe5e8a9406d  beir/queries.jsonl
2f8d128c611ffcd94b63093c9e5f145367f9671bc3462a113bca1699b4857846  judgments.csv
724796a1da44e590d01b34cd7c26077aa2146a32302cd5ee3b1035371135fa71  law-compact.json
3838f9f59d01ac58f4692042d87a4de2bc87c29e92e339006ece8c7b114952e9  law.json
d101ff385bf331106b487c4c1b2a08879f1d4eac4989d288dacd91f924e72b1e  manifest.json
3ad92bfb5a7eb377a36dafd27de5ce22b7265581b11a52baedb6094e3bcf3b16  nablarch.yaml
1d60e1765ce2c3564574ca5da4c44573a36e569f76d38d07513719b54e27be2f  pictures/confusion.svg
e2ccc5fd8de5a4c2aa4f77b982fddea108e59866691959a5cb2b0504e0a34c85  pictures/grades.svg
6158dde98ee2f7943adb1e9b5e2aab085ce7cd2c019fb800452a64b14f80d316  qrels.trec.txt
ade1c80e1eaefc0d23d3823f62a8af2647f8a4824805d444fecf5221275fc924  ranked.json
', '{"dataset": "\u691c\u7d22-\ubc95\ub839", "version": "1.0.0", "created_at": "2026-03-04T05:06:07Z", "published_by": "lead_3", "note": "", "authors": null, "contact": null, "licence": null, "source": null, "scale": [{"grade": 0, "name": "Not relevant", "definition": "Does not help with this query, even if it shares words with it."}, {"grade": 1, "name": "Marginally relevant", "definition": "Touches the topic; useful context, but answers no part."}, {"grade": 2, "name": "Highly relevant", "definition": "Answers an important part, or all of it with effort."}, {"grade": 3, "name": "Perfect", "definition": "Answers the query directly and completely; you could stop here."}], "guideline_version": 1, "previous": null, "content_sha256": "146a90cbca71c9b3538f36cc360085bfa8c12dd7832c061c0acf2947e91890a2", "list_grade_0": false, "counts": {"queries": 3, "queries_without_qrels": 1, "pairs": 9, "qrels": 6, "by_grade": {"0": 1, "1": 1, "2": 3, "3": 1}, "unanimous": 4, "adjudicated": 1, "single": 1, "imported": 0, "disagreement": 0, "unrateable": 1, "unjudged": 2}, "order": {"tied": 2, "by_lead": 0, "by_earlier": 0, "undecided": 2, "queries_undecided": 1, "queries_without_relevant": 0}, "agreement": {"annotators": ["annotator_1", "annotator_2"], "pairs": 5, "observed_agreement": 0.8, "cohen_kappa": {"unweighted": {"value": 0.736842, "ci95": [0.0, 1.0]}, "linear": {"value": 0.6875, "ci95": [0.0, 1.0]}, "quadratic": {"value": 0.6875, "ci95": [0.0, 1.0]}}, "fleiss_kappa": {"value": 0.72973, "ci95": [-1.0, 1.0]}, "krippendorff_alpha": {"nominal": {"value": 0.756757, "ci95": [-0.5, 1.0]}, "ordinal": {"value": 0.709677, "ci95": [-0.5, 1.0]}, "interval": {"value": 0.709677, "ci95": [-0.5, 1.0]}}, "gwet_ac1": {"value": 0.734969, "ci95": [-0.263158, 1.0]}, "gwet_ac2": {"value": 0.6947, "ci95": [-0.116279, 1.0]}, "cut_points": [{"relevant_from": 1, "cohen_kappa": {"value": 1.0, "ci95": [1.0, 1.0]}}, {"relevant_from": 2, "cohen_kappa": {"value": 0.615385, "ci95": [0.0, 1.0]}}, {"relevant_from": 3, "cohen_kappa": {"value": 0.545455, "ci95": [0.0, 1.0]}}], "annotator_pairs": [{"annotators": ["annotator_1", "annotator_2"], "pairs": 5, "queries": 2, "warning": "too few pairs for a conclusion: 5 pairs of 2 queries; aim for 30 pairs of 10 queries", "observed_agreement": 0.8, "cohen_kappa": {"unweighted": {"value": 0.736842, "ci95": [0.0, 1.0]}, "linear": {"value": 0.6875, "ci95": [0.0, 1.0]}, "quadratic": {"value": 0.6875, "ci95": [0.0, 1.0]}}, "confusion": [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]]}], "groups": [{"by": "category", "value": "handler", "pairs": 4, "warning": "too few pairs for a conclusion: 4 pairs of 1 query; aim for 30 pairs of 10 queries", "observed_agreement": 1.0, "cohen_kappa": {"unweighted": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "linear": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "quadratic": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}}, "krippendorff_alpha": {"nominal": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "ordinal": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "interval": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}}}, {"by": "category", "value": null, "pairs": 1, "warning": "too few pairs for a conclusion: 1 pair of 1 query; aim for 30 pairs of 10 queries", "observed_agreement": 0.0, "cohen_kappa": {"unweighted": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "linear": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "quadratic": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}}, "krippendorff_alpha": {"nominal": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "ordinal": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "interval": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}}}], "resamples": 1000, "seed": 7}, "gates": [{"name": "kappa", "required": 0.7, "measured": 0.736842, "met": false, "override": {"reason": "\u5c0f\u3055\u3044\u4f8b", "by": "lead_3"}, "why": "The target of 0.7 cannot be checked yet: Cohen''s kappa is 0.74 [0.00, 1.00], but two annotators have judged only 5 pairs of 2 queries, too few to rely on. At least 30 pairs of 10 queries are needed. Have two annotators judge another 25 pairs or so. See where the annotators differ on the page Agreement."}, {"name": "disagreements", "required": 0, "measured": 0, "met": true, "override": null, "why": null}, {"name": "overlap", "required": 0, "measured": 3, "met": false, "override": {"reason": "\u5c0f\u3055\u3044\u4f8b", "by": "lead_3"}, "why": "3 pairs have fewer than 2 judgments. They are waiting for annotators on the page Label."}, {"name": "quality_control", "required": 0.05, "measured": null, "met": false, "override": {"reason": "\u5c0f\u3055\u3044\u4f8b", "by": "lead_3"}, "why": "Not done. Draw a sample."}, {"name": "coverage", "required": 0, "measured": 0, "met": true, "override": null, "why": "No requirements are declared."}, {"name": "unjudged_queries", "required": 0, "measured": 1, "met": false, "override": {"reason": "\u5c0f\u3055\u3044\u4f8b", "by": "lead_3"}, "why": "1 query has no settled grade and would be missing in the release. Judge its documents, or add documents to its pool."}, {"name": "relevant", "required": 0, "measured": 0, "met": true, "override": null, "why": null}, {"name": "stale", "required": 0, "measured": 0, "met": true, "override": null, "why": null}], "files": [{"path": "CHANGES.md", "sha256": "73c3d6b2d1c8a0945d2e2621fda0322201b19e8138f076e39d0a770cb3c88a31", "bytes": 90}, {"path": "DATASHEET.md", "sha256": "9958e5c40dae389bd51b6fef4a89209adbe5b0aae52b03f3e9e03dbc957d662d", "bytes": 6931}, {"path": "assay-queries.yaml", "sha256": "345cdf6de2063c8d920c0e55991fb0ee904b3ec5a7f87c29e023625e11e11d30", "bytes": 744}, {"path": "assay.yaml", "sha256": "38680ec64ce28e99807ec31c38f27869ce1d206f550268394eccec7389581b5a", "bytes": 919}, {"path": "beir/corpus.jsonl", "sha256": "038cb9894192964dbd94b03fac6879674c6a86b118bf6837ca7e06afbe2485b8", "bytes": 641}, {"path": "beir/qrels/test.tsv", "sha256": "a2c03b5b59439e31d15059de4816b62e04e75e9b7211a43c43bd629413395dae", "bytes": 110}, {"path": "beir/queries.jsonl", "sha256": "0c8dc54ea970b779cbf389d53d19d792a847eaffd5395fe1f188afe5e8a9406d", "bytes": 308}, {"path": "judgments.csv", "sha256": "2f8d128c611ffcd94b63093c9e5f145367f9671bc3462a113bca1699b4857846", "bytes": 1107}, {"path": "law-compact.json", "sha256": "724796a1da44e590d01b34cd7c26077aa2146a32302cd5ee3b1035371135fa71", "bytes": 645}, {"path": "law.json", "sha256": "3838f9f59d01ac58f4692042d87a4de2bc87c29e92e339006ece8c7b114952e9", "bytes": 1430}, {"path": "nablarch.yaml", "sha256": "3ad92bfb5a7eb377a36dafd27de5ce22b7265581b11a52baedb6094e3bcf3b16", "bytes": 1044}, {"path": "pictures/confusion.svg", "sha256": "1d60e1765ce2c3564574ca5da4c44573a36e569f76d38d07513719b54e27be2f", "bytes": 3966}, {"path": "pictures/grades.svg", "sha256": "e2ccc5fd8de5a4c2aa4f77b982fddea108e59866691959a5cb2b0504e0a34c85", "bytes": 1684}, {"path": "qrels.trec.txt", "sha256": "6158dde98ee2f7943adb1e9b5e2aab085ce7cd2c019fb800452a64b14f80d316", "bytes": 97}, {"path": "ranked.json", "sha256": "ade1c80e1eaefc0d23d3823f62a8af2647f8a4824805d444fecf5221275fc924", "bytes": 469}]}', NULL);
SELECT setval(pg_get_serial_sequence('public.release', 'pk'), (SELECT max(pk) FROM public.release));
INSERT INTO public.remap ("pk", "dataset_pk", "old_doc_id", "new_doc_id", "kind", "remapped_at") VALUES (1, 1, '旧', '新', 'renamed', '2026-03-07 05:06:07.123456+00');
SELECT setval(pg_get_serial_sequence('public.remap', 'pk'), (SELECT max(pk) FROM public.remap));
INSERT INTO public.rubric ("pk", "dataset_pk", "version", "title", "guideline", "grades", "language", "translations", "change", "why", "author_pk", "created_at") VALUES (1, 1, 1, 'Graded relevance, 0 to 3', 'Judge each document on its own, for the person who typed this query.

- Ask what the searcher needs, not which words match.
- In doubt between two grades, take the lower one and say why in the note.
- Judge alone; differences are settled afterwards.
', '[{"grade": 0, "name": "Not relevant", "definition": "Does not help with this query, even if it shares words with it.", "positive_examples": [], "negative_examples": []}, {"grade": 1, "name": "Marginally relevant", "definition": "Touches the topic; useful context, but answers no part.", "positive_examples": [], "negative_examples": []}, {"grade": 2, "name": "Highly relevant", "definition": "Answers an important part, or all of it with effort.", "positive_examples": [], "negative_examples": []}, {"grade": 3, "name": "Perfect", "definition": "Answers the query directly and completely; you could stop here.", "positive_examples": [], "negative_examples": []}]', NULL, '[]', 'semantic', NULL, NULL, '2026-03-04 05:06:07.000000+00');
SELECT setval(pg_get_serial_sequence('public.rubric', 'pk'), (SELECT max(pk) FROM public.rubric));
INSERT INTO public.score_total ("dataset_pk", "queries", "scores") VALUES (1, 1, '{"bm25": [0.5, 1.0, 0.25]}');
INSERT INTO public.settle_batch ("pk", "dataset_pk", "lead_pk", "policy", "rationale", "pairs", "made_at", "undone_at", "undone_by_pk") VALUES (1, 1, 1, 'median', '中央値', 1, '2026-03-07 05:06:07.123456+00', NULL, NULL);
SELECT setval(pg_get_serial_sequence('public.settle_batch', 'pk'), (SELECT max(pk) FROM public.settle_batch));
INSERT INTO public.told_progress ("dataset_pk", "annotator_pk", "answered", "done", "total", "reserve_until") VALUES (1, 1, 1, 1, 4, NULL);
INSERT INTO public.assignment ("query_pk", "person_pk", "assigned_by_pk", "assigned_at") VALUES (1, 1, NULL, '2026-03-07 05:06:07.123456+00');
INSERT INTO public.document_order ("pk", "query_pk", "lead_pk", "pair_pks", "ordered_at") VALUES (1, 1, 1, '[1, 2]', '2026-03-07 05:06:07.123456+00');
SELECT setval(pg_get_serial_sequence('public.document_order', 'pk'), (SELECT max(pk) FROM public.document_order));
INSERT INTO public.document_text ("document_pk", "sha256", "text", "imported_at") VALUES (1, '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '本文', '2026-03-04 05:06:07.000000+00');
INSERT INTO public.document_text ("document_pk", "sha256", "text", "imported_at") VALUES (2, '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '本文', '2026-03-04 05:06:07.000000+00');
INSERT INTO public.document_text ("document_pk", "sha256", "text", "imported_at") VALUES (3, '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '本文', '2026-03-04 05:06:07.000000+00');
INSERT INTO public.document_text ("document_pk", "sha256", "text", "imported_at") VALUES (4, '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '本文', '2026-03-04 05:06:07.000000+00');
INSERT INTO public.left_out ("round_pk", "query_pk", "document_pk", "rule", "kept_document_pk") VALUES (1, 1, 1, 'title: 目次', NULL);
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (1, 1, 1, 1, '08cea382c7b2e98be65232d7', 2, FALSE, 2, 0, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (2, 1, 1, 2, '715775c1c52f2fec9fb5e64b', 2, FALSE, 2, 0, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (3, 1, 1, 3, '72bcf950f8f9efffa4f235c1', 2, FALSE, 2, 0, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (4, 1, 1, 4, 'e321048961a30e62cf228e71', 2, FALSE, 2, 0, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (5, 1, 2, 5, 'c5e3bddef02198d3d6165e01', 2, FALSE, 2, 0, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (6, 1, 2, 6, '7289db0c9a1f48bedc511a7d', 1, FALSE, 2, 1, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (7, 1, 2, 7, '1464d5be5c0337b54ff8ca8c', 0, FALSE, 2, 2, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (8, 1, 3, 8, 'e668d82e259c09d71aa50354', 2, FALSE, 2, 0, NULL, '2026-03-04 05:06:07.000000+00');
INSERT INTO public.pair ("pk", "dataset_pk", "query_pk", "document_pk", "key", "judged", "kept", "wanted", "lacking", "retired_at", "created_at") VALUES (9, 1, 3, 9, '7fe410bb8655e82d71c200c3', 0, FALSE, 2, 2, NULL, '2026-03-04 05:06:07.000000+00');
SELECT setval(pg_get_serial_sequence('public.pair', 'pk'), (SELECT max(pk) FROM public.pair));
INSERT INTO public.query_answers ("query_pk", "annotator_pk", "dataset_pk", "answered", "answered_open") VALUES (1, 1, 1, 4, 0);
INSERT INTO public.query_answers ("query_pk", "annotator_pk", "dataset_pk", "answered", "answered_open") VALUES (1, 2, 1, 4, 0);
INSERT INTO public.query_answers ("query_pk", "annotator_pk", "dataset_pk", "answered", "answered_open") VALUES (2, 1, 1, 2, 1);
INSERT INTO public.query_answers ("query_pk", "annotator_pk", "dataset_pk", "answered", "answered_open") VALUES (2, 2, 1, 1, 0);
INSERT INTO public.query_answers ("query_pk", "annotator_pk", "dataset_pk", "answered", "answered_open") VALUES (3, 1, 1, 1, 0);
INSERT INTO public.query_answers ("query_pk", "annotator_pk", "dataset_pk", "answered", "answered_open") VALUES (3, 2, 1, 1, 0);
INSERT INTO public.query_score ("query_pk", "dataset_pk", "scores") VALUES (1, 1, '{"bm25": [0.5, 1.0, 0.25]}');
INSERT INTO public.query_work ("query_pk", "dataset_pk", "open_pairs", "begun_pairs") VALUES (2, 1, 2, 1);
INSERT INTO public.query_work ("query_pk", "dataset_pk", "open_pairs", "begun_pairs") VALUES (3, 1, 1, 0);
INSERT INTO public.release_qrel ("release_pk", "position", "query_id", "doc_id", "grade", "origin", "judgments", "adjudication_pk", "imported_qrel_pk") VALUES (1, 0, 'Q1', 'Q1/three', 3, 'unanimous', '5 6', NULL, NULL);
INSERT INTO public.release_qrel ("release_pk", "position", "query_id", "doc_id", "grade", "origin", "judgments", "adjudication_pk", "imported_qrel_pk") VALUES (1, 1, 'Q1', 'Q1/two', 2, 'unanimous', '3 4', NULL, NULL);
INSERT INTO public.release_qrel ("release_pk", "position", "query_id", "doc_id", "grade", "origin", "judgments", "adjudication_pk", "imported_qrel_pk") VALUES (1, 2, 'Q1', 'Q1/one', 1, 'unanimous', '7 8', NULL, NULL);
INSERT INTO public.release_qrel ("release_pk", "position", "query_id", "doc_id", "grade", "origin", "judgments", "adjudication_pk", "imported_qrel_pk") VALUES (1, 3, 'Q1', 'Q1/zero', 0, 'unanimous', '1 2', NULL, NULL);
INSERT INTO public.release_qrel ("release_pk", "position", "query_id", "doc_id", "grade", "origin", "judgments", "adjudication_pk", "imported_qrel_pk") VALUES (1, 4, 'Q2', 'é🎯', 2, 'single', '11', NULL, NULL);
INSERT INTO public.release_qrel ("release_pk", "position", "query_id", "doc_id", "grade", "origin", "judgments", "adjudication_pk", "imported_qrel_pk") VALUES (1, 5, 'Q2', '법률_제17조', 2, 'adjudicated', '9 10', 1, NULL);
INSERT INTO public.release_query ("release_pk", "position", "query_id", "text") VALUES (1, 0, 'Q1', 'RESTful Webサービスの構成: yes #1');
INSERT INTO public.release_query ("release_pk", "position", "query_id", "text") VALUES (1, 1, 'Q2', '17조 "검색"
');
INSERT INTO public.run ("pk", "dataset_pk", "system", "content_sha256", "query_signals", "imported_at", "import_record_pk") VALUES (1, 1, 'bm25', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', '{"Q1": {"latency_ms": 12.5}}', '2026-03-07 05:06:07.123456+00', NULL);
SELECT setval(pg_get_serial_sequence('public.run', 'pk'), (SELECT max(pk) FROM public.run));
INSERT INTO public.score_due ("query_pk", "dataset_pk") VALUES (1, 1);
INSERT INTO public.score_due ("query_pk", "dataset_pk") VALUES (2, 1);
INSERT INTO public.score_due ("query_pk", "dataset_pk") VALUES (3, 1);
INSERT INTO public.adjudication ("pk", "pair_pk", "revision", "lead_pk", "rubric_pk", "outcome", "grade", "rationale", "reason", "cause", "in_guideline", "seconds", "batch_pk", "decided_at") VALUES (1, 5, 1, 3, 1, 'graded', 2, '第17条', NULL, NULL, FALSE, NULL, NULL, '2026-03-04 05:20:07.000000+00');
SELECT setval(pg_get_serial_sequence('public.adjudication', 'pk'), (SELECT max(pk) FROM public.adjudication));
INSERT INTO public.audit_event ("pk", "dataset_pk", "pair_pk", "person_pk", "action", "before", "after", "at") VALUES (1, 1, NULL, NULL, 'changed setting', '{"overlap": 2}', '{"overlap": 3}', '2026-03-07 05:06:07.123456+00');
SELECT setval(pg_get_serial_sequence('public.audit_event', 'pk'), (SELECT max(pk) FROM public.audit_event));
INSERT INTO public.case_assignment ("pair_pk", "lead_pk", "assigned_by_pk", "assigned_at") VALUES (1, 1, NULL, '2026-03-07 05:06:07.123456+00');
INSERT INTO public.case_hold ("pair_pk", "lead_pk", "tab", "expires_at") VALUES (1, 1, 't1', '2026-03-07 05:06:07.123456+00');
INSERT INTO public.case_later ("pair_pk", "lead_pk", "put_off_at") VALUES (1, 1, '2026-03-07 05:06:07.123456+00');
INSERT INTO public.check_pair ("pair_pk", "kind", "grade", "explanation", "marked_by_pk", "marked_at") VALUES (1, 'training', 2, '説明', NULL, '2026-03-07 05:06:07.123456+00');
INSERT INTO public.decision_proposal ("pair_pk", "lead_pk", "outcome", "grade", "rationale", "cause", "in_guideline", "proposed_at") VALUES (1, 1, 'graded', 1, '近い', NULL, TRUE, '2026-03-07 05:06:07.123456+00');
INSERT INTO public.disclosure ("pair_pk", "person_pk", "disclosed_at") VALUES (1, 1, '2026-03-07 05:06:07.123456+00');
INSERT INTO public.discussion ("pair_pk", "asked_by_pk", "asked_at", "closed_at") VALUES (1, 1, '2026-03-07 05:06:07.123456+00', NULL);
INSERT INTO public.discussion_turn ("pair_pk", "annotator_pk", "outcome", "grade", "revised", "note", "said_at") VALUES (1, 1, 'graded', 2, FALSE, '남깁니다', '2026-03-07 05:06:07.123456+00');
INSERT INTO public.dispute ("pair_pk", "dataset_pk", "query_pk", "open", "reasons", "waiting", "distance", "low", "high", "since", "impact", "recall_impact", "mrr_impact", "flips", "taste") VALUES (1, 1, 1, TRUE, 8, 8, 0, NULL, NULL, '2026-03-07 05:06:07.123456+00', 0.0, NULL, NULL, NULL, FALSE);
INSERT INTO public.dispute ("pair_pk", "dataset_pk", "query_pk", "open", "reasons", "waiting", "distance", "low", "high", "since", "impact", "recall_impact", "mrr_impact", "flips", "taste") VALUES (5, 1, 2, FALSE, 1, 0, 2, 1, 3, '2026-03-04 05:16:07.000000+00', 0.0, NULL, NULL, NULL, FALSE);
INSERT INTO public.imported_qrel ("pk", "pair_pk", "grade", "keep", "source", "description", "note", "annotator_grades", "extra", "imported_at", "import_record_pk") VALUES (1, 1, 3, FALSE, '{"path": "\u4ee5\u524d.yaml"}', NULL, NULL, '[[3, "\u82b1"]]', '{}', '2026-03-07 05:06:07.123456+00', NULL);
SELECT setval(pg_get_serial_sequence('public.imported_qrel', 'pk'), (SELECT max(pk) FROM public.imported_qrel));
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (1, '00000000-0000-0000-0000-000000000001', 1, 1, 1, 'graded', 0, NULL, NULL, 'independent', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '2026-03-04 05:07:07.000000+00', '2026-03-04 05:07:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (10, '00000000-0000-0000-0000-00000000000a', 5, 2, 1, 'graded', 1, NULL, NULL, 'independent', NULL, '2026-03-04 05:16:07.000000+00', '2026-03-04 05:16:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (11, '00000000-0000-0000-0000-00000000000b', 6, 1, 1, 'graded', 2, 'single', NULL, 'independent', NULL, '2026-03-04 05:17:07.000000+00', '2026-03-04 05:17:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (12, '00000000-0000-0000-0000-00000000000c', 8, 2, 1, 'unrateable', NULL, '읽을 수 없음', NULL, 'independent', NULL, '2026-03-04 05:18:07.000000+00', '2026-03-04 05:18:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (13, '00000000-0000-0000-0000-00000000000d', 8, 1, 1, 'unrateable', NULL, NULL, NULL, 'independent', NULL, '2026-03-04 05:19:07.000000+00', '2026-03-04 05:19:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (2, '00000000-0000-0000-0000-000000000002', 1, 2, 1, 'graded', 0, NULL, NULL, 'independent', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '2026-03-04 05:08:07.000000+00', '2026-03-04 05:08:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (3, '00000000-0000-0000-0000-000000000003', 2, 1, 1, 'graded', 2, NULL, NULL, 'independent', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '2026-03-04 05:09:07.000000+00', '2026-03-04 05:09:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (4, '00000000-0000-0000-0000-000000000004', 2, 2, 1, 'graded', 2, NULL, NULL, 'independent', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '2026-03-04 05:10:07.000000+00', '2026-03-04 05:10:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (5, '00000000-0000-0000-0000-000000000005', 3, 1, 1, 'graded', 3, '"引用", and
new line', NULL, 'independent', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '2026-03-04 05:11:07.000000+00', '2026-03-04 05:11:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (6, '00000000-0000-0000-0000-000000000006', 3, 2, 1, 'graded', 3, '메모', NULL, 'independent', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '2026-03-04 05:12:07.000000+00', '2026-03-04 05:12:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (7, '00000000-0000-0000-0000-000000000007', 4, 1, 1, 'graded', 1, NULL, NULL, 'independent', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '2026-03-04 05:13:07.000000+00', '2026-03-04 05:13:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (8, '00000000-0000-0000-0000-000000000008', 4, 2, 1, 'graded', 1, NULL, NULL, 'independent', '2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b', '2026-03-04 05:14:07.000000+00', '2026-03-04 05:14:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
INSERT INTO public.judgment ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "note", "reason", "purpose", "document_sha256", "judged_at", "received_at", "seconds", "import_record_pk", "browser", "browser_number", "late") VALUES (9, '00000000-0000-0000-0000-000000000009', 5, 1, 1, 'graded', 3, NULL, NULL, 'independent', NULL, '2026-03-04 05:15:07.000000+00', '2026-03-04 05:15:07.000000+00', 2.5, NULL, NULL, NULL, FALSE);
SELECT setval(pg_get_serial_sequence('public.judgment', 'pk'), (SELECT max(pk) FROM public.judgment));
INSERT INTO public.lease ("pair_pk", "annotator_pk", "expires_at", "tab") VALUES (9, 1, '2026-03-07 05:06:07.123456+00', 't1');
INSERT INTO public.proposal ("pair_pk", "annotator_pk", "proposed_at") VALUES (1, 1, '2026-03-07 05:06:07.123456+00');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (1, 'bm25', 1, 1.5, '{}');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (2, 'bm25', 2, 1.5, '{}');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (3, 'bm25', 3, 1.5, '{}');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (4, 'bm25', 4, 1.5, '{}');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (5, 'bm25', 3, 1.5, '{}');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (6, 'bm25', 1, 1.5, '{}');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (7, 'bm25', 2, 1.5, '{}');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (8, 'bm25', 1, 1.5, '{}');
INSERT INTO public.provenance ("pair_pk", "system", "rank", "score", "signals") VALUES (9, 'bm25', NULL, 1.5, '{}');
INSERT INTO public.question ("pk", "pair_pk", "annotator_pk", "in_guideline", "text", "asked_at", "answer", "answered_by_pk", "answered_at") VALUES (1, 1, 1, FALSE, '이 문서는?', '2026-03-07 05:06:07.123456+00', 'はい', NULL, '2026-03-07 05:06:07.123456+00');
SELECT setval(pg_get_serial_sequence('public.question', 'pk'), (SELECT max(pk) FROM public.question));
INSERT INTO public.repeated_pair ("pk", "key", "pair_pk", "annotator_pk", "handed_at", "answered_at") VALUES (1, 'repeat-1', 1, 1, '2026-03-07 05:06:07.123456+00', NULL);
SELECT setval(pg_get_serial_sequence('public.repeated_pair', 'pk'), (SELECT max(pk) FROM public.repeated_pair));
INSERT INTO public.round_pair ("pair_pk", "round_pk", "stratum", "inclusion") VALUES (1, 1, '1-5', 0.3);
INSERT INTO public.run_entry ("run_pk", "query_pk", "document_pk", "rank", "score", "signals") VALUES (1, 1, 1, 1, 0.30000000000000004, '{"\u0000": "\u00e9\u0301"}');
INSERT INTO public.current_adjudication ("pair_pk", "dataset_pk", "adjudication_pk", "lead_pk", "outcome", "grade", "decided_at") VALUES (5, 1, 1, 3, 'graded', 2, '2026-03-04 05:20:07.000000+00');
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (1, 1, 1, 1, 'graded', 0, 'independent', 0, 1, 2.5, 1772600827, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (1, 2, 2, 1, 'graded', 0, 'independent', 0, 1, 2.5, 1772600887, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (2, 1, 3, 1, 'graded', 2, 'independent', 0, 1, 2.5, 1772600947, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (2, 2, 4, 1, 'graded', 2, 'independent', 0, 1, 2.5, 1772601007, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (3, 1, 5, 1, 'graded', 3, 'independent', 0, 1, 2.5, 1772601067, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (3, 2, 6, 1, 'graded', 3, 'independent', 0, 1, 2.5, 1772601127, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (4, 1, 7, 1, 'graded', 1, 'independent', 0, 1, 2.5, 1772601187, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (4, 2, 8, 1, 'graded', 1, 'independent', 0, 1, 2.5, 1772601247, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (5, 1, 9, 1, 'graded', 3, 'independent', 0, 1, 2.5, 1772601307, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (5, 2, 10, 1, 'graded', 1, 'independent', 0, 1, 2.5, 1772601367, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (6, 1, 11, 1, 'graded', 2, 'independent', 0, 1, 2.5, 1772601427, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (8, 1, 13, 1, 'unrateable', NULL, 'independent', 0, 1, 2.5, 1772601547, 0);
INSERT INTO public.current_judgment ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk", "seconds", "made_at", "imported") VALUES (8, 2, 12, 1, 'unrateable', NULL, 'independent', 0, 1, 2.5, 1772601487, 0);
INSERT INTO public.guideline_decision ("rubric_pk", "adjudication_pk") VALUES (1, 1);
INSERT INTO public.objection ("pair_pk", "annotator_pk", "adjudication_pk", "text", "objected_at") VALUES (1, 1, 1, '違うと思います', '2026-03-07 05:06:07.123456+00');
INSERT INTO public.quality_pair ("draw_pk", "pair_pk", "settled_grade", "settled_by", "judgment_pk", "outcome", "grade", "answered_at") VALUES (1, 1, 2, 'unanimous', NULL, NULL, NULL, NULL);
INSERT INTO public.seen_answer ("question_pk", "answered_at", "seen_at") VALUES (1, '2026-03-07 05:06:07.123456+00', '2026-03-07 05:06:07.123456+00');
INSERT INTO public.seen_decision ("pair_pk", "person_pk", "adjudication_pk", "seen_at") VALUES (1, 1, 1, '2026-03-07 05:06:07.123456+00');
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.adjudication
    ADD CONSTRAINT pk_adjudication PRIMARY KEY (pk);
ALTER TABLE ONLY public.assignment
    ADD CONSTRAINT pk_assignment PRIMARY KEY (query_pk, person_pk);
ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT pk_audit_event PRIMARY KEY (pk);
ALTER TABLE ONLY public.case_assignment
    ADD CONSTRAINT pk_case_assignment PRIMARY KEY (pair_pk);
ALTER TABLE ONLY public.case_hold
    ADD CONSTRAINT pk_case_hold PRIMARY KEY (pair_pk);
ALTER TABLE ONLY public.case_later
    ADD CONSTRAINT pk_case_later PRIMARY KEY (pair_pk, lead_pk);
ALTER TABLE ONLY public.check_pair
    ADD CONSTRAINT pk_check_pair PRIMARY KEY (pair_pk);
ALTER TABLE ONLY public.current_adjudication
    ADD CONSTRAINT pk_current_adjudication PRIMARY KEY (pair_pk);
ALTER TABLE ONLY public.current_judgment
    ADD CONSTRAINT pk_current_judgment PRIMARY KEY (pair_pk, annotator_pk);
ALTER TABLE ONLY public.dataset
    ADD CONSTRAINT pk_dataset PRIMARY KEY (pk);
ALTER TABLE ONLY public.decision_proposal
    ADD CONSTRAINT pk_decision_proposal PRIMARY KEY (pair_pk, lead_pk);
ALTER TABLE ONLY public.disclosure
    ADD CONSTRAINT pk_disclosure PRIMARY KEY (pair_pk, person_pk);
ALTER TABLE ONLY public.discussion
    ADD CONSTRAINT pk_discussion PRIMARY KEY (pair_pk);
ALTER TABLE ONLY public.discussion_turn
    ADD CONSTRAINT pk_discussion_turn PRIMARY KEY (pair_pk, annotator_pk);
ALTER TABLE ONLY public.dispute
    ADD CONSTRAINT pk_dispute PRIMARY KEY (pair_pk);
ALTER TABLE ONLY public.document
    ADD CONSTRAINT pk_document PRIMARY KEY (pk);
ALTER TABLE ONLY public.document_order
    ADD CONSTRAINT pk_document_order PRIMARY KEY (pk);
ALTER TABLE ONLY public.document_text
    ADD CONSTRAINT pk_document_text PRIMARY KEY (document_pk, sha256);
ALTER TABLE ONLY public.guideline_decision
    ADD CONSTRAINT pk_guideline_decision PRIMARY KEY (rubric_pk, adjudication_pk);
ALTER TABLE ONLY public.import_record
    ADD CONSTRAINT pk_import_record PRIMARY KEY (pk);
ALTER TABLE ONLY public.imported_qrel
    ADD CONSTRAINT pk_imported_qrel PRIMARY KEY (pk);
ALTER TABLE ONLY public.judgment
    ADD CONSTRAINT pk_judgment PRIMARY KEY (pk);
ALTER TABLE ONLY public.known_device
    ADD CONSTRAINT pk_known_device PRIMARY KEY (token_sha256, person_pk);
ALTER TABLE ONLY public.lease
    ADD CONSTRAINT pk_lease PRIMARY KEY (pair_pk, annotator_pk);
ALTER TABLE ONLY public.left_out
    ADD CONSTRAINT pk_left_out PRIMARY KEY (round_pk, query_pk, document_pk);
ALTER TABLE ONLY public.login_attempt
    ADD CONSTRAINT pk_login_attempt PRIMARY KEY (pk);
ALTER TABLE ONLY public.login_session
    ADD CONSTRAINT pk_login_session PRIMARY KEY (token_sha256);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT pk_membership PRIMARY KEY (pk);
ALTER TABLE ONLY public.objection
    ADD CONSTRAINT pk_objection PRIMARY KEY (pair_pk, annotator_pk);
ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT pk_one_time_link PRIMARY KEY (pk);
ALTER TABLE ONLY public.pair
    ADD CONSTRAINT pk_pair PRIMARY KEY (pk);
ALTER TABLE ONLY public.person
    ADD CONSTRAINT pk_person PRIMARY KEY (pk);
ALTER TABLE ONLY public.pool_round
    ADD CONSTRAINT pk_pool_round PRIMARY KEY (pk);
ALTER TABLE ONLY public.proposal
    ADD CONSTRAINT pk_proposal PRIMARY KEY (pair_pk);
ALTER TABLE ONLY public.provenance
    ADD CONSTRAINT pk_provenance PRIMARY KEY (pair_pk, system);
ALTER TABLE ONLY public.pseudonym
    ADD CONSTRAINT pk_pseudonym PRIMARY KEY (dataset_pk, person_pk);
ALTER TABLE ONLY public.quality_draw
    ADD CONSTRAINT pk_quality_draw PRIMARY KEY (pk);
ALTER TABLE ONLY public.quality_pair
    ADD CONSTRAINT pk_quality_pair PRIMARY KEY (draw_pk, pair_pk);
ALTER TABLE ONLY public.query
    ADD CONSTRAINT pk_query PRIMARY KEY (pk);
ALTER TABLE ONLY public.query_answers
    ADD CONSTRAINT pk_query_answers PRIMARY KEY (query_pk, annotator_pk);
ALTER TABLE ONLY public.query_score
    ADD CONSTRAINT pk_query_score PRIMARY KEY (query_pk);
ALTER TABLE ONLY public.query_work
    ADD CONSTRAINT pk_query_work PRIMARY KEY (query_pk);
ALTER TABLE ONLY public.question
    ADD CONSTRAINT pk_question PRIMARY KEY (pk);
ALTER TABLE ONLY public.release
    ADD CONSTRAINT pk_release PRIMARY KEY (pk);
ALTER TABLE ONLY public.release_qrel
    ADD CONSTRAINT pk_release_qrel PRIMARY KEY (release_pk, "position");
ALTER TABLE ONLY public.release_query
    ADD CONSTRAINT pk_release_query PRIMARY KEY (release_pk, "position");
ALTER TABLE ONLY public.remap
    ADD CONSTRAINT pk_remap PRIMARY KEY (pk);
ALTER TABLE ONLY public.repeated_pair
    ADD CONSTRAINT pk_repeated_pair PRIMARY KEY (pk);
ALTER TABLE ONLY public.round_pair
    ADD CONSTRAINT pk_round_pair PRIMARY KEY (pair_pk);
ALTER TABLE ONLY public.rubric
    ADD CONSTRAINT pk_rubric PRIMARY KEY (pk);
ALTER TABLE ONLY public.run
    ADD CONSTRAINT pk_run PRIMARY KEY (pk);
ALTER TABLE ONLY public.run_entry
    ADD CONSTRAINT pk_run_entry PRIMARY KEY (run_pk, query_pk, document_pk);
ALTER TABLE ONLY public.score_due
    ADD CONSTRAINT pk_score_due PRIMARY KEY (query_pk);
ALTER TABLE ONLY public.score_total
    ADD CONSTRAINT pk_score_total PRIMARY KEY (dataset_pk);
ALTER TABLE ONLY public.seen_answer
    ADD CONSTRAINT pk_seen_answer PRIMARY KEY (question_pk);
ALTER TABLE ONLY public.seen_decision
    ADD CONSTRAINT pk_seen_decision PRIMARY KEY (pair_pk, person_pk);
ALTER TABLE ONLY public.settle_batch
    ADD CONSTRAINT pk_settle_batch PRIMARY KEY (pk);
ALTER TABLE ONLY public.told_progress
    ADD CONSTRAINT pk_told_progress PRIMARY KEY (dataset_pk, annotator_pk);
ALTER TABLE ONLY public.adjudication
    ADD CONSTRAINT uq_adjudication_pair_pk_revision UNIQUE (pair_pk, revision);
ALTER TABLE ONLY public.current_judgment
    ADD CONSTRAINT uq_current_judgment_judgment_pk UNIQUE (judgment_pk);
ALTER TABLE ONLY public.dataset
    ADD CONSTRAINT uq_dataset_name UNIQUE (name);
ALTER TABLE ONLY public.document
    ADD CONSTRAINT uq_document_dataset_pk_doc_id UNIQUE (dataset_pk, doc_id);
ALTER TABLE ONLY public.judgment
    ADD CONSTRAINT uq_judgment_event_id UNIQUE (event_id);
ALTER TABLE ONLY public.judgment
    ADD CONSTRAINT uq_judgment_pk_pair_pk_annotator_pk UNIQUE (pk, pair_pk, annotator_pk);
ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT uq_one_time_link_token_sha256 UNIQUE (token_sha256);
ALTER TABLE ONLY public.pair
    ADD CONSTRAINT uq_pair_key UNIQUE (key);
ALTER TABLE ONLY public.pair
    ADD CONSTRAINT uq_pair_query_pk_document_pk UNIQUE (query_pk, document_pk);
ALTER TABLE ONLY public.person
    ADD CONSTRAINT uq_person_username UNIQUE (username);
ALTER TABLE ONLY public.pool_round
    ADD CONSTRAINT uq_pool_round_dataset_pk_number UNIQUE (dataset_pk, number);
ALTER TABLE ONLY public.pseudonym
    ADD CONSTRAINT uq_pseudonym_dataset_pk_number UNIQUE (dataset_pk, number);
ALTER TABLE ONLY public.quality_draw
    ADD CONSTRAINT uq_quality_draw_dataset_pk_number UNIQUE (dataset_pk, number);
ALTER TABLE ONLY public.query
    ADD CONSTRAINT uq_query_dataset_pk_query_id UNIQUE (dataset_pk, query_id);
ALTER TABLE ONLY public.release
    ADD CONSTRAINT uq_release_dataset_pk_version UNIQUE (dataset_pk, version);
ALTER TABLE ONLY public.release_qrel
    ADD CONSTRAINT uq_release_qrel_release_pk_query_id_doc_id UNIQUE (release_pk, query_id, doc_id);
ALTER TABLE ONLY public.release_query
    ADD CONSTRAINT uq_release_query_release_pk_query_id UNIQUE (release_pk, query_id);
ALTER TABLE ONLY public.repeated_pair
    ADD CONSTRAINT uq_repeated_pair_annotator_pk_pair_pk UNIQUE (annotator_pk, pair_pk);
ALTER TABLE ONLY public.repeated_pair
    ADD CONSTRAINT uq_repeated_pair_key UNIQUE (key);
ALTER TABLE ONLY public.rubric
    ADD CONSTRAINT uq_rubric_dataset_pk_version UNIQUE (dataset_pk, version);
ALTER TABLE ONLY public.run
    ADD CONSTRAINT uq_run_dataset_pk_system UNIQUE (dataset_pk, system);
ALTER TABLE ONLY public.run_entry
    ADD CONSTRAINT uq_run_entry_run_pk_query_pk_rank UNIQUE (run_pk, query_pk, rank);
CREATE INDEX ix_assignment_person_pk ON public.assignment USING btree (person_pk);
CREATE INDEX ix_audit_event_dataset_pk ON public.audit_event USING btree (dataset_pk, pk);
CREATE INDEX ix_audit_event_pair_pk ON public.audit_event USING btree (pair_pk);
CREATE INDEX ix_case_assignment_lead_pk ON public.case_assignment USING btree (lead_pk);
CREATE INDEX ix_current_adjudication_dataset_pk ON public.current_adjudication USING btree (dataset_pk);
CREATE INDEX ix_current_judgment_annotator_outcome ON public.current_judgment USING btree (dataset_pk, annotator_pk, outcome, made_at);
CREATE INDEX ix_current_judgment_stale ON public.current_judgment USING btree (dataset_pk, annotator_pk) WHERE (stale > 0);
CREATE INDEX ix_dispute_distance ON public.dispute USING btree (dataset_pk, open, distance, since, pair_pk);
CREATE INDEX ix_dispute_impact ON public.dispute USING btree (dataset_pk, open, impact, since, pair_pk);
CREATE INDEX ix_dispute_query_pk ON public.dispute USING btree (query_pk);
CREATE INDEX ix_dispute_since ON public.dispute USING btree (dataset_pk, open, since, pair_pk);
CREATE INDEX ix_document_order_query_pk ON public.document_order USING btree (query_pk);
CREATE INDEX ix_import_record_dataset_pk ON public.import_record USING btree (dataset_pk);
CREATE INDEX ix_imported_qrel_pair_pk ON public.imported_qrel USING btree (pair_pk);
CREATE INDEX ix_judgment_checks ON public.judgment USING btree (pair_pk, purpose) WHERE ((purpose)::text <> ALL ((ARRAY['independent'::character varying, 'conditional'::character varying])::text[]));
CREATE INDEX ix_judgment_pair_annotator_order ON public.judgment USING btree (pair_pk, annotator_pk, pk);
CREATE INDEX ix_known_device_person_pk ON public.known_device USING btree (person_pk);
CREATE INDEX ix_lease_annotator_pk ON public.lease USING btree (annotator_pk);
CREATE INDEX ix_left_out_document_pk ON public.left_out USING btree (document_pk);
CREATE INDEX ix_left_out_kept_document_pk ON public.left_out USING btree (kept_document_pk);
CREATE INDEX ix_login_attempt_address_at ON public.login_attempt USING btree (address, at);
CREATE INDEX ix_login_attempt_username_at ON public.login_attempt USING btree (username, at);
CREATE INDEX ix_login_session_person_pk ON public.login_session USING btree (person_pk);
CREATE INDEX ix_one_time_link_dataset_pk ON public.one_time_link USING btree (dataset_pk);
CREATE INDEX ix_pair_dataset_pk_judged ON public.pair USING btree (dataset_pk, judged);
CREATE INDEX ix_pair_document_pk ON public.pair USING btree (document_pk);
CREATE INDEX ix_pair_lacking ON public.pair USING btree (query_pk) WHERE (lacking > 0);
CREATE INDEX ix_pair_query_pk_judged ON public.pair USING btree (query_pk, judged);
CREATE INDEX ix_quality_pair_pair_pk ON public.quality_pair USING btree (pair_pk);
CREATE INDEX ix_query_answers_annotator ON public.query_answers USING btree (annotator_pk, dataset_pk);
CREATE INDEX ix_query_score_dataset_pk ON public.query_score USING btree (dataset_pk);
CREATE INDEX ix_query_work_dataset_pk ON public.query_work USING btree (dataset_pk);
CREATE INDEX ix_question_annotator_pk ON public.question USING btree (annotator_pk);
CREATE INDEX ix_question_pair_pk ON public.question USING btree (pair_pk);
CREATE INDEX ix_remap_dataset_pk ON public.remap USING btree (dataset_pk);
CREATE INDEX ix_round_pair_round_pk ON public.round_pair USING btree (round_pk);
CREATE INDEX ix_score_due_dataset_pk ON public.score_due USING btree (dataset_pk);
CREATE UNIQUE INDEX uq_membership_everywhere ON public.membership USING btree (person_pk) WHERE (dataset_pk IS NULL);
CREATE UNIQUE INDEX uq_membership_one ON public.membership USING btree (person_pk, dataset_pk);
CREATE TRIGGER adjudication_no_truncate BEFORE TRUNCATE ON public.adjudication FOR EACH STATEMENT EXECUTE FUNCTION public.adjudication_is_append_only();
CREATE TRIGGER adjudication_no_update BEFORE DELETE OR UPDATE ON public.adjudication FOR EACH ROW EXECUTE FUNCTION public.adjudication_is_append_only();
CREATE TRIGGER audit_event_no_truncate BEFORE TRUNCATE ON public.audit_event FOR EACH STATEMENT EXECUTE FUNCTION public.audit_event_is_append_only();
CREATE TRIGGER audit_event_no_update BEFORE DELETE OR UPDATE ON public.audit_event FOR EACH ROW EXECUTE FUNCTION public.audit_event_is_append_only();
CREATE TRIGGER document_order_no_truncate BEFORE TRUNCATE ON public.document_order FOR EACH STATEMENT EXECUTE FUNCTION public.document_order_is_append_only();
CREATE TRIGGER document_order_no_update BEFORE DELETE OR UPDATE ON public.document_order FOR EACH ROW EXECUTE FUNCTION public.document_order_is_append_only();
CREATE TRIGGER import_record_no_truncate BEFORE TRUNCATE ON public.import_record FOR EACH STATEMENT EXECUTE FUNCTION public.import_record_is_append_only();
CREATE TRIGGER import_record_no_update BEFORE DELETE OR UPDATE ON public.import_record FOR EACH ROW EXECUTE FUNCTION public.import_record_is_append_only();
CREATE TRIGGER imported_qrel_no_truncate BEFORE TRUNCATE ON public.imported_qrel FOR EACH STATEMENT EXECUTE FUNCTION public.imported_qrel_is_append_only();
CREATE TRIGGER imported_qrel_no_update BEFORE DELETE OR UPDATE ON public.imported_qrel FOR EACH ROW EXECUTE FUNCTION public.imported_qrel_is_append_only();
CREATE TRIGGER judgment_no_truncate BEFORE TRUNCATE ON public.judgment FOR EACH STATEMENT EXECUTE FUNCTION public.judgment_is_append_only();
CREATE TRIGGER judgment_no_update BEFORE DELETE OR UPDATE ON public.judgment FOR EACH ROW EXECUTE FUNCTION public.judgment_is_append_only();
CREATE TRIGGER pair_stays_after_delete AFTER DELETE ON public.pair FOR EACH ROW EXECUTE FUNCTION public.pair_of_provenance_stays();
CREATE TRIGGER pair_stays_after_update AFTER UPDATE OF pk ON public.pair FOR EACH ROW WHEN ((old.pk IS DISTINCT FROM new.pk)) EXECUTE FUNCTION public.pair_of_provenance_stays();
CREATE TRIGGER provenance_pair_after_insert AFTER INSERT ON public.provenance REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.provenance_has_its_pair();
CREATE TRIGGER provenance_pair_after_update AFTER UPDATE ON public.provenance REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.provenance_has_its_pair();
CREATE TRIGGER release_no_truncate BEFORE TRUNCATE ON public.release FOR EACH STATEMENT EXECUTE FUNCTION public.release_is_append_only();
CREATE TRIGGER release_no_update BEFORE DELETE OR UPDATE ON public.release FOR EACH ROW EXECUTE FUNCTION public.release_is_append_only();
CREATE TRIGGER release_qrel_no_truncate BEFORE TRUNCATE ON public.release_qrel FOR EACH STATEMENT EXECUTE FUNCTION public.release_qrel_is_append_only();
CREATE TRIGGER release_qrel_no_update BEFORE DELETE OR UPDATE ON public.release_qrel FOR EACH ROW EXECUTE FUNCTION public.release_qrel_is_append_only();
CREATE TRIGGER release_query_no_truncate BEFORE TRUNCATE ON public.release_query FOR EACH STATEMENT EXECUTE FUNCTION public.release_query_is_append_only();
CREATE TRIGGER release_query_no_update BEFORE DELETE OR UPDATE ON public.release_query FOR EACH ROW EXECUTE FUNCTION public.release_query_is_append_only();
CREATE TRIGGER remap_no_truncate BEFORE TRUNCATE ON public.remap FOR EACH STATEMENT EXECUTE FUNCTION public.remap_is_append_only();
CREATE TRIGGER remap_no_update BEFORE DELETE OR UPDATE ON public.remap FOR EACH ROW EXECUTE FUNCTION public.remap_is_append_only();
CREATE TRIGGER rubric_no_truncate BEFORE TRUNCATE ON public.rubric FOR EACH STATEMENT EXECUTE FUNCTION public.rubric_is_append_only();
CREATE TRIGGER rubric_no_update BEFORE DELETE OR UPDATE ON public.rubric FOR EACH ROW EXECUTE FUNCTION public.rubric_is_append_only();
ALTER TABLE ONLY public.adjudication
    ADD CONSTRAINT fk_adjudication_batch_pk FOREIGN KEY (batch_pk) REFERENCES public.settle_batch(pk);
ALTER TABLE ONLY public.adjudication
    ADD CONSTRAINT fk_adjudication_lead_pk FOREIGN KEY (lead_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.adjudication
    ADD CONSTRAINT fk_adjudication_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.adjudication
    ADD CONSTRAINT fk_adjudication_rubric_pk FOREIGN KEY (rubric_pk) REFERENCES public.rubric(pk);
ALTER TABLE ONLY public.assignment
    ADD CONSTRAINT fk_assignment_assigned_by_pk FOREIGN KEY (assigned_by_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.assignment
    ADD CONSTRAINT fk_assignment_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.assignment
    ADD CONSTRAINT fk_assignment_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT fk_audit_event_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT fk_audit_event_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT fk_audit_event_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.case_assignment
    ADD CONSTRAINT fk_case_assignment_assigned_by_pk FOREIGN KEY (assigned_by_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.case_assignment
    ADD CONSTRAINT fk_case_assignment_lead_pk FOREIGN KEY (lead_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.case_assignment
    ADD CONSTRAINT fk_case_assignment_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.case_hold
    ADD CONSTRAINT fk_case_hold_lead_pk FOREIGN KEY (lead_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.case_hold
    ADD CONSTRAINT fk_case_hold_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.case_later
    ADD CONSTRAINT fk_case_later_lead_pk FOREIGN KEY (lead_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.case_later
    ADD CONSTRAINT fk_case_later_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.check_pair
    ADD CONSTRAINT fk_check_pair_marked_by_pk FOREIGN KEY (marked_by_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.check_pair
    ADD CONSTRAINT fk_check_pair_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.current_adjudication
    ADD CONSTRAINT fk_current_adjudication_adjudication_pk FOREIGN KEY (adjudication_pk) REFERENCES public.adjudication(pk);
ALTER TABLE ONLY public.current_adjudication
    ADD CONSTRAINT fk_current_adjudication_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.current_adjudication
    ADD CONSTRAINT fk_current_adjudication_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.current_judgment
    ADD CONSTRAINT fk_current_judgment_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.current_judgment
    ADD CONSTRAINT fk_current_judgment_judgment_pk_pair_pk_annotator_pk FOREIGN KEY (judgment_pk, pair_pk, annotator_pk) REFERENCES public.judgment(pk, pair_pk, annotator_pk);
ALTER TABLE ONLY public.decision_proposal
    ADD CONSTRAINT fk_decision_proposal_lead_pk FOREIGN KEY (lead_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.decision_proposal
    ADD CONSTRAINT fk_decision_proposal_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.disclosure
    ADD CONSTRAINT fk_disclosure_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.disclosure
    ADD CONSTRAINT fk_disclosure_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.discussion
    ADD CONSTRAINT fk_discussion_asked_by_pk FOREIGN KEY (asked_by_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.discussion
    ADD CONSTRAINT fk_discussion_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.discussion_turn
    ADD CONSTRAINT fk_discussion_turn_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.discussion_turn
    ADD CONSTRAINT fk_discussion_turn_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.dispute
    ADD CONSTRAINT fk_dispute_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.dispute
    ADD CONSTRAINT fk_dispute_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.dispute
    ADD CONSTRAINT fk_dispute_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.document
    ADD CONSTRAINT fk_document_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.document_order
    ADD CONSTRAINT fk_document_order_lead_pk FOREIGN KEY (lead_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.document_order
    ADD CONSTRAINT fk_document_order_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.document_text
    ADD CONSTRAINT fk_document_text_document_pk FOREIGN KEY (document_pk) REFERENCES public.document(pk);
ALTER TABLE ONLY public.guideline_decision
    ADD CONSTRAINT fk_guideline_decision_adjudication_pk FOREIGN KEY (adjudication_pk) REFERENCES public.adjudication(pk);
ALTER TABLE ONLY public.guideline_decision
    ADD CONSTRAINT fk_guideline_decision_rubric_pk FOREIGN KEY (rubric_pk) REFERENCES public.rubric(pk);
ALTER TABLE ONLY public.import_record
    ADD CONSTRAINT fk_import_record_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.import_record
    ADD CONSTRAINT fk_import_record_imported_by FOREIGN KEY (imported_by) REFERENCES public.person(pk);
ALTER TABLE ONLY public.imported_qrel
    ADD CONSTRAINT fk_imported_qrel_import_record_pk FOREIGN KEY (import_record_pk) REFERENCES public.import_record(pk);
ALTER TABLE ONLY public.imported_qrel
    ADD CONSTRAINT fk_imported_qrel_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.judgment
    ADD CONSTRAINT fk_judgment_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.judgment
    ADD CONSTRAINT fk_judgment_import_record_pk FOREIGN KEY (import_record_pk) REFERENCES public.import_record(pk);
ALTER TABLE ONLY public.judgment
    ADD CONSTRAINT fk_judgment_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.judgment
    ADD CONSTRAINT fk_judgment_rubric_pk FOREIGN KEY (rubric_pk) REFERENCES public.rubric(pk);
ALTER TABLE ONLY public.known_device
    ADD CONSTRAINT fk_known_device_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.lease
    ADD CONSTRAINT fk_lease_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.lease
    ADD CONSTRAINT fk_lease_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.left_out
    ADD CONSTRAINT fk_left_out_document_pk FOREIGN KEY (document_pk) REFERENCES public.document(pk);
ALTER TABLE ONLY public.left_out
    ADD CONSTRAINT fk_left_out_kept_document_pk FOREIGN KEY (kept_document_pk) REFERENCES public.document(pk);
ALTER TABLE ONLY public.left_out
    ADD CONSTRAINT fk_left_out_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.left_out
    ADD CONSTRAINT fk_left_out_round_pk FOREIGN KEY (round_pk) REFERENCES public.pool_round(pk);
ALTER TABLE ONLY public.login_session
    ADD CONSTRAINT fk_login_session_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT fk_membership_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT fk_membership_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.objection
    ADD CONSTRAINT fk_objection_adjudication_pk FOREIGN KEY (adjudication_pk) REFERENCES public.adjudication(pk);
ALTER TABLE ONLY public.objection
    ADD CONSTRAINT fk_objection_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.objection
    ADD CONSTRAINT fk_objection_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT fk_one_time_link_author_pk FOREIGN KEY (author_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT fk_one_time_link_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT fk_one_time_link_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT fk_one_time_link_revoker_pk FOREIGN KEY (revoker_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.one_time_link
    ADD CONSTRAINT fk_one_time_link_user_pk FOREIGN KEY (user_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.pair
    ADD CONSTRAINT fk_pair_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.pair
    ADD CONSTRAINT fk_pair_document_pk FOREIGN KEY (document_pk) REFERENCES public.document(pk);
ALTER TABLE ONLY public.pair
    ADD CONSTRAINT fk_pair_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.pool_round
    ADD CONSTRAINT fk_pool_round_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.pool_round
    ADD CONSTRAINT fk_pool_round_made_by FOREIGN KEY (made_by) REFERENCES public.person(pk);
ALTER TABLE ONLY public.proposal
    ADD CONSTRAINT fk_proposal_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.proposal
    ADD CONSTRAINT fk_proposal_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.pseudonym
    ADD CONSTRAINT fk_pseudonym_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.pseudonym
    ADD CONSTRAINT fk_pseudonym_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.quality_draw
    ADD CONSTRAINT fk_quality_draw_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.quality_draw
    ADD CONSTRAINT fk_quality_draw_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.quality_draw
    ADD CONSTRAINT fk_quality_draw_drawn_by_pk FOREIGN KEY (drawn_by_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.quality_pair
    ADD CONSTRAINT fk_quality_pair_draw_pk FOREIGN KEY (draw_pk) REFERENCES public.quality_draw(pk);
ALTER TABLE ONLY public.quality_pair
    ADD CONSTRAINT fk_quality_pair_judgment_pk FOREIGN KEY (judgment_pk) REFERENCES public.judgment(pk);
ALTER TABLE ONLY public.quality_pair
    ADD CONSTRAINT fk_quality_pair_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.query_answers
    ADD CONSTRAINT fk_query_answers_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.query_answers
    ADD CONSTRAINT fk_query_answers_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.query_answers
    ADD CONSTRAINT fk_query_answers_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.query
    ADD CONSTRAINT fk_query_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.query_score
    ADD CONSTRAINT fk_query_score_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.query_score
    ADD CONSTRAINT fk_query_score_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.query_work
    ADD CONSTRAINT fk_query_work_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.query_work
    ADD CONSTRAINT fk_query_work_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.question
    ADD CONSTRAINT fk_question_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.question
    ADD CONSTRAINT fk_question_answered_by_pk FOREIGN KEY (answered_by_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.question
    ADD CONSTRAINT fk_question_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.release
    ADD CONSTRAINT fk_release_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.release
    ADD CONSTRAINT fk_release_published_by FOREIGN KEY (published_by) REFERENCES public.person(pk);
ALTER TABLE ONLY public.release_qrel
    ADD CONSTRAINT fk_release_qrel_release_pk FOREIGN KEY (release_pk) REFERENCES public.release(pk);
ALTER TABLE ONLY public.release_query
    ADD CONSTRAINT fk_release_query_release_pk FOREIGN KEY (release_pk) REFERENCES public.release(pk);
ALTER TABLE ONLY public.remap
    ADD CONSTRAINT fk_remap_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.repeated_pair
    ADD CONSTRAINT fk_repeated_pair_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.repeated_pair
    ADD CONSTRAINT fk_repeated_pair_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.round_pair
    ADD CONSTRAINT fk_round_pair_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.round_pair
    ADD CONSTRAINT fk_round_pair_round_pk FOREIGN KEY (round_pk) REFERENCES public.pool_round(pk);
ALTER TABLE ONLY public.rubric
    ADD CONSTRAINT fk_rubric_author_pk FOREIGN KEY (author_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.rubric
    ADD CONSTRAINT fk_rubric_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.run
    ADD CONSTRAINT fk_run_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.run_entry
    ADD CONSTRAINT fk_run_entry_document_pk FOREIGN KEY (document_pk) REFERENCES public.document(pk);
ALTER TABLE ONLY public.run_entry
    ADD CONSTRAINT fk_run_entry_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.run_entry
    ADD CONSTRAINT fk_run_entry_run_pk FOREIGN KEY (run_pk) REFERENCES public.run(pk);
ALTER TABLE ONLY public.run
    ADD CONSTRAINT fk_run_import_record_pk FOREIGN KEY (import_record_pk) REFERENCES public.import_record(pk);
ALTER TABLE ONLY public.score_due
    ADD CONSTRAINT fk_score_due_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.score_due
    ADD CONSTRAINT fk_score_due_query_pk FOREIGN KEY (query_pk) REFERENCES public.query(pk);
ALTER TABLE ONLY public.score_total
    ADD CONSTRAINT fk_score_total_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.seen_answer
    ADD CONSTRAINT fk_seen_answer_question_pk FOREIGN KEY (question_pk) REFERENCES public.question(pk);
ALTER TABLE ONLY public.seen_decision
    ADD CONSTRAINT fk_seen_decision_adjudication_pk FOREIGN KEY (adjudication_pk) REFERENCES public.adjudication(pk);
ALTER TABLE ONLY public.seen_decision
    ADD CONSTRAINT fk_seen_decision_pair_pk FOREIGN KEY (pair_pk) REFERENCES public.pair(pk);
ALTER TABLE ONLY public.seen_decision
    ADD CONSTRAINT fk_seen_decision_person_pk FOREIGN KEY (person_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.settle_batch
    ADD CONSTRAINT fk_settle_batch_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
ALTER TABLE ONLY public.settle_batch
    ADD CONSTRAINT fk_settle_batch_lead_pk FOREIGN KEY (lead_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.settle_batch
    ADD CONSTRAINT fk_settle_batch_undone_by_pk FOREIGN KEY (undone_by_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.told_progress
    ADD CONSTRAINT fk_told_progress_annotator_pk FOREIGN KEY (annotator_pk) REFERENCES public.person(pk);
ALTER TABLE ONLY public.told_progress
    ADD CONSTRAINT fk_told_progress_dataset_pk FOREIGN KEY (dataset_pk) REFERENCES public.dataset(pk);
