BEGIN TRANSACTION;
CREATE TABLE "adjudication" (
  pk INTEGER NOT NULL, pair_pk INTEGER NOT NULL, revision INTEGER NOT NULL, lead_pk INTEGER NOT NULL,
  rubric_pk INTEGER NOT NULL, grade INTEGER, rationale TEXT NOT NULL, reason TEXT, decided_at DATETIME NOT NULL,
  outcome VARCHAR DEFAULT 'graded' NOT NULL CONSTRAINT ck_adjudication_outcome CHECK (outcome IN ('graded', 'unrateable', 'withdrawn')), cause VARCHAR CONSTRAINT ck_adjudication_cause CHECK (cause IN ('guideline_gap', 'ambiguous_query', 'misread_document', 'missing_knowledge', 'slip', 'borderline')), in_guideline BOOLEAN DEFAULT false NOT NULL, seconds FLOAT CONSTRAINT ck_adjudication_seconds CHECK (seconds >= 0), batch_pk INTEGER CONSTRAINT fk_adjudication_batch_pk REFERENCES settle_batch (pk),
  CONSTRAINT pk_adjudication PRIMARY KEY (pk),
  CONSTRAINT uq_adjudication_pair_pk_revision UNIQUE (pair_pk, revision),
  CONSTRAINT ck_adjudication_grade CHECK (grade IN (0, 1, 2, 3)),
  CONSTRAINT ck_adjudication_grade_iff_graded CHECK ((outcome = 'graded') = (grade IS NOT NULL)),
  CONSTRAINT ck_adjudication_revision CHECK (revision >= 1),
  CONSTRAINT fk_adjudication_lead_pk FOREIGN KEY(lead_pk) REFERENCES person (pk),
  CONSTRAINT fk_adjudication_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk),
  CONSTRAINT fk_adjudication_rubric_pk FOREIGN KEY(rubric_pk) REFERENCES rubric (pk));
INSERT INTO "adjudication" VALUES(1,5,1,3,1,2,'第17条',NULL,'2026-03-04 05:20:07.000000','graded',NULL,0,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0023');
CREATE TABLE assignment (
	query_pk INTEGER NOT NULL, 
	person_pk INTEGER NOT NULL, 
	assigned_by_pk INTEGER, 
	assigned_at DATETIME NOT NULL, 
	CONSTRAINT pk_assignment PRIMARY KEY (query_pk, person_pk), 
	CONSTRAINT fk_assignment_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk), 
	CONSTRAINT fk_assignment_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk), 
	CONSTRAINT fk_assignment_assigned_by_pk FOREIGN KEY(assigned_by_pk) REFERENCES person (pk)
);
INSERT INTO "assignment" VALUES(1,1,NULL,'2026-03-07 05:06:07.123456');
CREATE TABLE audit_event (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	pair_pk INTEGER, 
	person_pk INTEGER, 
	action VARCHAR NOT NULL, 
	"before" JSON, 
	"after" JSON, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_audit_event PRIMARY KEY (pk), 
	CONSTRAINT fk_audit_event_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_audit_event_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_audit_event_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk)
);
INSERT INTO "audit_event" VALUES(1,1,NULL,NULL,'changed setting','{"overlap": 2}','{"overlap": 3}','2026-03-07 05:06:07.123456');
CREATE TABLE case_assignment (
	pair_pk INTEGER NOT NULL, 
	lead_pk INTEGER NOT NULL, 
	assigned_by_pk INTEGER, 
	assigned_at DATETIME NOT NULL, 
	CONSTRAINT pk_case_assignment PRIMARY KEY (pair_pk), 
	CONSTRAINT fk_case_assignment_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_case_assignment_lead_pk FOREIGN KEY(lead_pk) REFERENCES person (pk), 
	CONSTRAINT fk_case_assignment_assigned_by_pk FOREIGN KEY(assigned_by_pk) REFERENCES person (pk)
);
INSERT INTO "case_assignment" VALUES(1,1,NULL,'2026-03-07 05:06:07.123456');
CREATE TABLE case_hold (
	pair_pk INTEGER NOT NULL, 
	lead_pk INTEGER NOT NULL, 
	tab TEXT NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_case_hold PRIMARY KEY (pair_pk), 
	CONSTRAINT fk_case_hold_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_case_hold_lead_pk FOREIGN KEY(lead_pk) REFERENCES person (pk)
);
INSERT INTO "case_hold" VALUES(1,1,'t1','2026-03-07 05:06:07.123456');
CREATE TABLE case_later (
	pair_pk INTEGER NOT NULL, 
	lead_pk INTEGER NOT NULL, 
	put_off_at DATETIME NOT NULL, 
	CONSTRAINT pk_case_later PRIMARY KEY (pair_pk, lead_pk), 
	CONSTRAINT fk_case_later_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_case_later_lead_pk FOREIGN KEY(lead_pk) REFERENCES person (pk)
);
INSERT INTO "case_later" VALUES(1,1,'2026-03-07 05:06:07.123456');
CREATE TABLE check_pair (
	pair_pk INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	grade INTEGER NOT NULL, 
	explanation TEXT NOT NULL, 
	marked_by_pk INTEGER, 
	marked_at DATETIME NOT NULL, 
	CONSTRAINT pk_check_pair PRIMARY KEY (pair_pk), 
	CONSTRAINT ck_check_pair_kind CHECK (kind IN ('training', 'gold')), 
	CONSTRAINT ck_check_pair_grade CHECK (grade IN (0, 1, 2, 3)), 
	CONSTRAINT fk_check_pair_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_check_pair_marked_by_pk FOREIGN KEY(marked_by_pk) REFERENCES person (pk)
);
INSERT INTO "check_pair" VALUES(1,'training',2,'説明',NULL,'2026-03-07 05:06:07.123456');
CREATE TABLE current_adjudication (
	pair_pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	adjudication_pk INTEGER NOT NULL, 
	lead_pk INTEGER NOT NULL, 
	outcome VARCHAR NOT NULL, 
	grade INTEGER, 
	decided_at DATETIME NOT NULL, 
	CONSTRAINT pk_current_adjudication PRIMARY KEY (pair_pk), 
	CONSTRAINT fk_current_adjudication_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_current_adjudication_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_current_adjudication_adjudication_pk FOREIGN KEY(adjudication_pk) REFERENCES adjudication (pk)
);
INSERT INTO "current_adjudication" VALUES(5,1,1,3,'graded',2,'2026-03-04 05:20:07.000000');
CREATE TABLE current_judgment (
	pair_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	judgment_pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	outcome VARCHAR NOT NULL, 
	grade INTEGER, 
	purpose VARCHAR NOT NULL, stale INTEGER DEFAULT 0 NOT NULL, rubric_pk INTEGER, seconds FLOAT, made_at BIGINT, imported INTEGER DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_current_judgment PRIMARY KEY (pair_pk, annotator_pk), 
	CONSTRAINT fk_current_judgment_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_current_judgment_judgment_pk_pair_pk_annotator_pk FOREIGN KEY(judgment_pk, pair_pk, annotator_pk) REFERENCES judgment (pk, pair_pk, annotator_pk), 
	CONSTRAINT uq_current_judgment_judgment_pk UNIQUE (judgment_pk)
);
INSERT INTO "current_judgment" VALUES(1,1,1,1,'graded',0,'independent',0,1,2.5,1772600827,0);
INSERT INTO "current_judgment" VALUES(1,2,2,1,'graded',0,'independent',0,1,2.5,1772600887,0);
INSERT INTO "current_judgment" VALUES(2,1,3,1,'graded',2,'independent',0,1,2.5,1772600947,0);
INSERT INTO "current_judgment" VALUES(2,2,4,1,'graded',2,'independent',0,1,2.5,1772601007,0);
INSERT INTO "current_judgment" VALUES(3,1,5,1,'graded',3,'independent',0,1,2.5,1772601067,0);
INSERT INTO "current_judgment" VALUES(3,2,6,1,'graded',3,'independent',0,1,2.5,1772601127,0);
INSERT INTO "current_judgment" VALUES(4,1,7,1,'graded',1,'independent',0,1,2.5,1772601187,0);
INSERT INTO "current_judgment" VALUES(4,2,8,1,'graded',1,'independent',0,1,2.5,1772601247,0);
INSERT INTO "current_judgment" VALUES(5,1,9,1,'graded',3,'independent',0,1,2.5,1772601307,0);
INSERT INTO "current_judgment" VALUES(5,2,10,1,'graded',1,'independent',0,1,2.5,1772601367,0);
INSERT INTO "current_judgment" VALUES(6,1,11,1,'graded',2,'independent',0,1,2.5,1772601427,0);
INSERT INTO "current_judgment" VALUES(8,2,12,1,'unrateable',NULL,'independent',0,1,2.5,1772601487,0);
INSERT INTO "current_judgment" VALUES(8,1,13,1,'unrateable',NULL,'independent',0,1,2.5,1772601547,0);
CREATE TABLE dataset (
	pk INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	title TEXT NOT NULL, 
	language VARCHAR, 
	overlap INTEGER NOT NULL, 
	kappa_target FLOAT NOT NULL, 
	lease_minutes INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	list_grade_0 BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, requirements JSON, overlap_rules JSON, training_score FLOAT DEFAULT 0.8 NOT NULL CONSTRAINT ck_dataset_training_score CHECK (training_score BETWEEN 0 AND 1), gold_rate FLOAT DEFAULT 0.0 NOT NULL CONSTRAINT ck_dataset_gold_rate CHECK (gold_rate BETWEEN 0 AND 0.5), repeat_rate FLOAT DEFAULT 0.0 NOT NULL CONSTRAINT ck_dataset_repeat_rate CHECK (repeat_rate BETWEEN 0 AND 0.5), repeat_after INTEGER DEFAULT 30 NOT NULL CONSTRAINT ck_dataset_repeat_after CHECK (repeat_after BETWEEN 1 AND 10000), idle_seconds INTEGER DEFAULT 120 NOT NULL CONSTRAINT ck_dataset_idle_seconds CHECK (idle_seconds BETWEEN 10 AND 3600), shown_metadata JSON, quality_rule VARCHAR DEFAULT 'bound' NOT NULL CONSTRAINT ck_dataset_quality_rule CHECK (quality_rule IN ('bound', 'rate')), show_own_agreement BOOLEAN DEFAULT false NOT NULL, second_adjudicator BOOLEAN DEFAULT false NOT NULL, discuss_from INTEGER CONSTRAINT ck_dataset_discuss_from CHECK (discuss_from BETWEEN 1 AND 3), authors TEXT, contact TEXT, licence TEXT, source TEXT, search_hosts JSON, archived_at DATETIME, profile VARCHAR DEFAULT 'trec' NOT NULL CONSTRAINT ck_dataset_profile CHECK (profile IN ('trec', 'nablarch', 'law', 'survey', 'code', 'document')), 
	CONSTRAINT pk_dataset PRIMARY KEY (pk), 
	CONSTRAINT ck_dataset_kappa_target CHECK (kappa_target BETWEEN -1 AND 1), 
	CONSTRAINT ck_dataset_lease_minutes CHECK (lease_minutes BETWEEN 1 AND 10080), 
	CONSTRAINT ck_dataset_overlap CHECK (overlap BETWEEN 1 AND 20), 
	CONSTRAINT uq_dataset_name UNIQUE (name)
);
INSERT INTO "dataset" VALUES(1,'検索-법령','検索-법령',NULL,2,0.7,60,7,0,'2026-03-04 05:06:07.000000',NULL,NULL,0.8,0.0,0.0,30,120,NULL,'bound',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'trec');
CREATE TABLE decision_proposal (
	pair_pk INTEGER NOT NULL, 
	lead_pk INTEGER NOT NULL, 
	outcome VARCHAR NOT NULL, 
	grade INTEGER, 
	rationale TEXT NOT NULL, 
	cause VARCHAR, 
	in_guideline BOOLEAN NOT NULL, 
	proposed_at DATETIME NOT NULL, 
	CONSTRAINT pk_decision_proposal PRIMARY KEY (pair_pk, lead_pk), 
	CONSTRAINT ck_decision_proposal_outcome CHECK (outcome IN ('graded', 'unrateable')), 
	CONSTRAINT ck_decision_proposal_grade_iff_graded CHECK ((outcome = 'graded') = (grade IS NOT NULL)), 
	CONSTRAINT fk_decision_proposal_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_decision_proposal_lead_pk FOREIGN KEY(lead_pk) REFERENCES person (pk)
);
INSERT INTO "decision_proposal" VALUES(1,1,'graded',1,'近い',NULL,1,'2026-03-07 05:06:07.123456');
CREATE TABLE disclosure (
	pair_pk INTEGER NOT NULL, 
	person_pk INTEGER NOT NULL, 
	disclosed_at DATETIME NOT NULL, 
	CONSTRAINT pk_disclosure PRIMARY KEY (pair_pk, person_pk), 
	CONSTRAINT fk_disclosure_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_disclosure_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk)
);
INSERT INTO "disclosure" VALUES(1,1,'2026-03-07 05:06:07.123456');
CREATE TABLE discussion (
	pair_pk INTEGER NOT NULL, 
	asked_by_pk INTEGER NOT NULL, 
	asked_at DATETIME NOT NULL, 
	closed_at DATETIME, 
	CONSTRAINT pk_discussion PRIMARY KEY (pair_pk), 
	CONSTRAINT fk_discussion_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_discussion_asked_by_pk FOREIGN KEY(asked_by_pk) REFERENCES person (pk)
);
INSERT INTO "discussion" VALUES(1,1,'2026-03-07 05:06:07.123456',NULL);
CREATE TABLE discussion_turn (
	pair_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	outcome VARCHAR NOT NULL, 
	grade INTEGER, 
	revised BOOLEAN NOT NULL, 
	note TEXT, 
	said_at DATETIME NOT NULL, 
	CONSTRAINT pk_discussion_turn PRIMARY KEY (pair_pk, annotator_pk), 
	CONSTRAINT ck_discussion_turn_outcome CHECK (outcome IN ('graded', 'unrateable')), 
	CONSTRAINT ck_discussion_turn_grade_iff_graded CHECK ((outcome = 'graded') = (grade IS NOT NULL)), 
	CONSTRAINT fk_discussion_turn_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_discussion_turn_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk)
);
INSERT INTO "discussion_turn" VALUES(1,1,'graded',2,0,'남깁니다','2026-03-07 05:06:07.123456');
CREATE TABLE dispute (
	pair_pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	query_pk INTEGER NOT NULL, 
	open BOOLEAN NOT NULL, 
	reasons INTEGER NOT NULL, 
	waiting INTEGER NOT NULL, 
	distance INTEGER NOT NULL, 
	low INTEGER, 
	high INTEGER, 
	since DATETIME NOT NULL, 
	impact FLOAT NOT NULL, 
	recall_impact FLOAT, 
	mrr_impact FLOAT, 
	flips INTEGER, 
	taste BOOLEAN NOT NULL, 
	CONSTRAINT pk_dispute PRIMARY KEY (pair_pk), 
	CONSTRAINT fk_dispute_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_dispute_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_dispute_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk)
);
INSERT INTO "dispute" VALUES(1,1,1,1,8,8,0,NULL,NULL,'2026-03-07 05:06:07.123456',0.0,NULL,NULL,NULL,0);
INSERT INTO "dispute" VALUES(5,1,2,0,1,0,2,1,3,'2026-03-04 05:16:07.000000',0.0,NULL,NULL,NULL,0);
CREATE TABLE document (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	doc_id TEXT NOT NULL, 
	title TEXT NOT NULL, 
	url TEXT, 
	media_type VARCHAR NOT NULL, 
	text_sha256 VARCHAR, 
	extra JSON NOT NULL, 
	CONSTRAINT pk_document PRIMARY KEY (pk), 
	CONSTRAINT fk_document_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT uq_document_dataset_pk_doc_id UNIQUE (dataset_pk, doc_id)
);
INSERT INTO "document" VALUES(1,1,'Q1/zero','題 Q1/zero',NULL,'text/plain','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','{}');
INSERT INTO "document" VALUES(2,1,'Q1/two','題 Q1/two',NULL,'text/plain','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','{}');
INSERT INTO "document" VALUES(3,1,'Q1/three','題 Q1/three',NULL,'text/plain','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','{}');
INSERT INTO "document" VALUES(4,1,'Q1/one','題 Q1/one',NULL,'text/plain','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','{}');
INSERT INTO "document" VALUES(5,1,'법률_제17조','제17조',NULL,'text/plain',NULL,'{"law_type": "\ubc95\ub960"}');
INSERT INTO "document" VALUES(6,1,'é🎯','',NULL,'text/plain',NULL,'{}');
INSERT INTO "document" VALUES(7,1,'é','',NULL,'text/plain',NULL,'{}');
INSERT INTO "document" VALUES(8,1,'مستند','',NULL,'text/plain',NULL,'{}');
INSERT INTO "document" VALUES(9,1,'unjudged','',NULL,'text/plain',NULL,'{}');
CREATE TABLE document_order (
	pk INTEGER NOT NULL, 
	query_pk INTEGER NOT NULL, 
	lead_pk INTEGER NOT NULL, 
	pair_pks JSON NOT NULL, 
	ordered_at DATETIME NOT NULL, 
	CONSTRAINT pk_document_order PRIMARY KEY (pk), 
	CONSTRAINT fk_document_order_lead_pk FOREIGN KEY(lead_pk) REFERENCES person (pk), 
	CONSTRAINT fk_document_order_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk)
);
INSERT INTO "document_order" VALUES(1,1,1,'[1, 2]','2026-03-07 05:06:07.123456');
CREATE TABLE document_text (
	document_pk INTEGER NOT NULL, 
	sha256 VARCHAR NOT NULL, 
	text TEXT NOT NULL, 
	imported_at DATETIME NOT NULL, 
	CONSTRAINT pk_document_text PRIMARY KEY (document_pk, sha256), 
	CONSTRAINT fk_document_text_document_pk FOREIGN KEY(document_pk) REFERENCES document (pk)
);
INSERT INTO "document_text" VALUES(1,'2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','本文','2026-03-04 05:06:07.000000');
INSERT INTO "document_text" VALUES(2,'2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','本文','2026-03-04 05:06:07.000000');
INSERT INTO "document_text" VALUES(3,'2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','本文','2026-03-04 05:06:07.000000');
INSERT INTO "document_text" VALUES(4,'2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','本文','2026-03-04 05:06:07.000000');
CREATE TABLE guideline_decision (
	rubric_pk INTEGER NOT NULL, 
	adjudication_pk INTEGER NOT NULL, 
	CONSTRAINT pk_guideline_decision PRIMARY KEY (rubric_pk, adjudication_pk), 
	CONSTRAINT fk_guideline_decision_rubric_pk FOREIGN KEY(rubric_pk) REFERENCES rubric (pk), 
	CONSTRAINT fk_guideline_decision_adjudication_pk FOREIGN KEY(adjudication_pk) REFERENCES adjudication (pk)
);
INSERT INTO "guideline_decision" VALUES(1,1);
CREATE TABLE import_record (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	path TEXT NOT NULL, 
	sha256 VARCHAR, 
	format VARCHAR, 
	system TEXT, 
	imported_by INTEGER, 
	imported_at DATETIME NOT NULL, 
	options JSON NOT NULL, 
	figures JSON NOT NULL, 
	declared JSON, 
	CONSTRAINT pk_import_record PRIMARY KEY (pk), 
	CONSTRAINT ck_import_record_kind CHECK (kind IN ('queries', 'documents', 'run', 'pairs', 'judgments', 'qrels')), 
	CONSTRAINT fk_import_record_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_import_record_imported_by FOREIGN KEY(imported_by) REFERENCES person (pk)
);
INSERT INTO "import_record" VALUES(1,1,'queries','질의 🎯.yaml',NULL,NULL,NULL,NULL,'2026-03-07 05:06:07.123456','{"a": 1.5}','{}',NULL);
CREATE TABLE imported_qrel (
	pk INTEGER NOT NULL, 
	pair_pk INTEGER NOT NULL, 
	grade INTEGER NOT NULL, 
	keep BOOLEAN NOT NULL, 
	source JSON NOT NULL, 
	description TEXT, 
	note TEXT, 
	annotator_grades JSON NOT NULL, 
	extra JSON NOT NULL, 
	imported_at DATETIME NOT NULL, import_record_pk INTEGER CONSTRAINT fk_imported_qrel_import_record_pk REFERENCES import_record (pk), 
	CONSTRAINT pk_imported_qrel PRIMARY KEY (pk), 
	CONSTRAINT ck_imported_qrel_grade CHECK (grade IN (0, 1, 2, 3)), 
	CONSTRAINT fk_imported_qrel_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk)
);
INSERT INTO "imported_qrel" VALUES(1,1,3,0,'{"path": "\u4ee5\u524d.yaml"}',NULL,NULL,'[[3, "\u82b1"]]','{}','2026-03-07 05:06:07.123456',NULL);
CREATE TABLE judgment (
	pk INTEGER NOT NULL, 
	event_id VARCHAR NOT NULL, 
	pair_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	rubric_pk INTEGER NOT NULL, 
	outcome VARCHAR NOT NULL, 
	grade INTEGER, 
	note TEXT, 
	purpose VARCHAR NOT NULL, 
	document_sha256 VARCHAR, 
	judged_at DATETIME NOT NULL, 
	received_at DATETIME NOT NULL, 
	seconds FLOAT, reason VARCHAR CONSTRAINT ck_judgment_reason CHECK (reason IN ('unreadable', 'wrong_language', 'document_missing', 'query_unclear', 'other')), import_record_pk INTEGER CONSTRAINT fk_judgment_import_record_pk REFERENCES import_record (pk), browser VARCHAR, browser_number BIGINT CONSTRAINT ck_judgment_browser_number_iff_browser CHECK ((browser IS NULL) = (browser_number IS NULL)), late BOOLEAN DEFAULT false NOT NULL, 
	CONSTRAINT pk_judgment PRIMARY KEY (pk), 
	CONSTRAINT ck_judgment_grade_iff_graded CHECK ((outcome = 'graded') = (grade IS NOT NULL)), 
	CONSTRAINT ck_judgment_outcome CHECK (outcome IN ('graded', 'unrateable', 'later')), 
	CONSTRAINT ck_judgment_grade CHECK (grade IN (0, 1, 2, 3)), 
	CONSTRAINT ck_judgment_seconds CHECK (seconds >= 0), 
	CONSTRAINT fk_judgment_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk), 
	CONSTRAINT fk_judgment_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_judgment_rubric_pk FOREIGN KEY(rubric_pk) REFERENCES rubric (pk), 
	CONSTRAINT uq_judgment_event_id UNIQUE (event_id), 
	CONSTRAINT uq_judgment_pk_pair_pk_annotator_pk UNIQUE (pk, pair_pk, annotator_pk)
);
INSERT INTO "judgment" VALUES(1,'00000000-0000-0000-0000-000000000001',1,1,1,'graded',0,NULL,'independent','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','2026-03-04 05:07:07.000000','2026-03-04 05:07:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(2,'00000000-0000-0000-0000-000000000002',1,2,1,'graded',0,NULL,'independent','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','2026-03-04 05:08:07.000000','2026-03-04 05:08:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(3,'00000000-0000-0000-0000-000000000003',2,1,1,'graded',2,NULL,'independent','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','2026-03-04 05:09:07.000000','2026-03-04 05:09:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(4,'00000000-0000-0000-0000-000000000004',2,2,1,'graded',2,NULL,'independent','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','2026-03-04 05:10:07.000000','2026-03-04 05:10:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(5,'00000000-0000-0000-0000-000000000005',3,1,1,'graded',3,'"引用", and
new line','independent','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','2026-03-04 05:11:07.000000','2026-03-04 05:11:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(6,'00000000-0000-0000-0000-000000000006',3,2,1,'graded',3,'메모','independent','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','2026-03-04 05:12:07.000000','2026-03-04 05:12:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(7,'00000000-0000-0000-0000-000000000007',4,1,1,'graded',1,NULL,'independent','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','2026-03-04 05:13:07.000000','2026-03-04 05:13:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(8,'00000000-0000-0000-0000-000000000008',4,2,1,'graded',1,NULL,'independent','2617ab4ad6fe995785421872bde4648311a8de11848c1f487fb7eb458572e87b','2026-03-04 05:14:07.000000','2026-03-04 05:14:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(9,'00000000-0000-0000-0000-000000000009',5,1,1,'graded',3,NULL,'independent',NULL,'2026-03-04 05:15:07.000000','2026-03-04 05:15:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(10,'00000000-0000-0000-0000-00000000000a',5,2,1,'graded',1,NULL,'independent',NULL,'2026-03-04 05:16:07.000000','2026-03-04 05:16:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(11,'00000000-0000-0000-0000-00000000000b',6,1,1,'graded',2,'single','independent',NULL,'2026-03-04 05:17:07.000000','2026-03-04 05:17:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(12,'00000000-0000-0000-0000-00000000000c',8,2,1,'unrateable',NULL,'읽을 수 없음','independent',NULL,'2026-03-04 05:18:07.000000','2026-03-04 05:18:07.000000',2.5,NULL,NULL,NULL,NULL,0);
INSERT INTO "judgment" VALUES(13,'00000000-0000-0000-0000-00000000000d',8,1,1,'unrateable',NULL,NULL,'independent',NULL,'2026-03-04 05:19:07.000000','2026-03-04 05:19:07.000000',2.5,NULL,NULL,NULL,NULL,0);
CREATE TABLE known_device (
	token_sha256 VARCHAR NOT NULL, 
	person_pk INTEGER NOT NULL, 
	seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_known_device PRIMARY KEY (token_sha256, person_pk), 
	CONSTRAINT fk_known_device_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk)
);
INSERT INTO "known_device" VALUES('eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',1,'2026-03-07 05:06:07.123456');
CREATE TABLE lease (
	pair_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	expires_at DATETIME NOT NULL, tab TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_lease PRIMARY KEY (pair_pk, annotator_pk), 
	CONSTRAINT fk_lease_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk), 
	CONSTRAINT fk_lease_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk)
);
INSERT INTO "lease" VALUES(9,1,'2026-03-07 05:06:07.123456','t1');
CREATE TABLE left_out (
	round_pk INTEGER NOT NULL, 
	query_pk INTEGER NOT NULL, 
	document_pk INTEGER NOT NULL, 
	rule TEXT NOT NULL, 
	kept_document_pk INTEGER, 
	CONSTRAINT pk_left_out PRIMARY KEY (round_pk, query_pk, document_pk), 
	CONSTRAINT fk_left_out_document_pk FOREIGN KEY(document_pk) REFERENCES document (pk), 
	CONSTRAINT fk_left_out_kept_document_pk FOREIGN KEY(kept_document_pk) REFERENCES document (pk), 
	CONSTRAINT fk_left_out_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk), 
	CONSTRAINT fk_left_out_round_pk FOREIGN KEY(round_pk) REFERENCES pool_round (pk)
);
INSERT INTO "left_out" VALUES(1,1,1,'title: 目次',NULL);
CREATE TABLE login_attempt (
	pk INTEGER NOT NULL, 
	username VARCHAR NOT NULL, 
	address VARCHAR NOT NULL, 
	at DATETIME NOT NULL, device_sha256 VARCHAR, 
	CONSTRAINT pk_login_attempt PRIMARY KEY (pk)
);
INSERT INTO "login_attempt" VALUES(1,'花子','127.0.0.1','2026-03-07 05:06:07.123456','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd');
CREATE TABLE login_session (
	token_sha256 VARCHAR NOT NULL, 
	person_pk INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	revoked_at DATETIME, device_sha256 VARCHAR, 
	CONSTRAINT pk_login_session PRIMARY KEY (token_sha256), 
	CONSTRAINT fk_login_session_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk)
);
INSERT INTO "login_session" VALUES('ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',1,'2026-03-07 05:06:07.123456','2026-03-07 05:06:07.123456',NULL,NULL);
CREATE TABLE membership (
	pk INTEGER NOT NULL, 
	person_pk INTEGER NOT NULL, 
	dataset_pk INTEGER, 
	role VARCHAR NOT NULL, categories JSON, languages JSON, 
	CONSTRAINT pk_membership PRIMARY KEY (pk), 
	CONSTRAINT ck_membership_role CHECK (role IN ('annotator', 'lead', 'admin')), 
	CONSTRAINT fk_membership_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_membership_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk)
);
INSERT INTO "membership" VALUES(1,1,1,'annotator',NULL,NULL);
INSERT INTO "membership" VALUES(2,2,1,'annotator',NULL,NULL);
INSERT INTO "membership" VALUES(3,3,1,'lead',NULL,NULL);
CREATE TABLE objection (
	pair_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	adjudication_pk INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	objected_at DATETIME NOT NULL, 
	CONSTRAINT pk_objection PRIMARY KEY (pair_pk, annotator_pk), 
	CONSTRAINT ck_objection_text CHECK (length(trim(text)) > 0), 
	CONSTRAINT fk_objection_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_objection_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk), 
	CONSTRAINT fk_objection_adjudication_pk FOREIGN KEY(adjudication_pk) REFERENCES adjudication (pk)
);
INSERT INTO "objection" VALUES(1,1,1,'違うと思います','2026-03-07 05:06:07.123456');
CREATE TABLE one_time_link (
	pk INTEGER NOT NULL, 
	token_sha256 VARCHAR NOT NULL, 
	purpose VARCHAR NOT NULL, 
	role VARCHAR, 
	dataset_pk INTEGER, 
	person_pk INTEGER, 
	note TEXT NOT NULL, 
	author_pk INTEGER, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	used_at DATETIME, 
	user_pk INTEGER, 
	revoked_at DATETIME, 
	revoker_pk INTEGER, 
	CONSTRAINT pk_one_time_link PRIMARY KEY (pk), 
	CONSTRAINT ck_one_time_link_purpose CHECK (purpose IN ('setup', 'invitation', 'password')), 
	CONSTRAINT ck_one_time_link_role CHECK (role IN ('annotator', 'lead', 'admin')), 
	CONSTRAINT ck_one_time_link_role_iff_invitation CHECK ((purpose = 'invitation') = (role IS NOT NULL)), 
	CONSTRAINT ck_one_time_link_person_iff_password CHECK ((purpose = 'password') = (person_pk IS NOT NULL)), 
	CONSTRAINT ck_one_time_link_user_iff_used CHECK ((used_at IS NULL) = (user_pk IS NULL)), 
	CONSTRAINT ck_one_time_link_used_or_revoked CHECK (used_at IS NULL OR revoked_at IS NULL), 
	CONSTRAINT fk_one_time_link_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_one_time_link_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk), 
	CONSTRAINT fk_one_time_link_author_pk FOREIGN KEY(author_pk) REFERENCES person (pk), 
	CONSTRAINT fk_one_time_link_user_pk FOREIGN KEY(user_pk) REFERENCES person (pk), 
	CONSTRAINT fk_one_time_link_revoker_pk FOREIGN KEY(revoker_pk) REFERENCES person (pk), 
	CONSTRAINT uq_one_time_link_token_sha256 UNIQUE (token_sha256)
);
INSERT INTO "one_time_link" VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','invitation','annotator',1,NULL,'민지에게',3,'2026-03-07 05:06:07.123456','2026-03-14 05:06:07.123456',NULL,NULL,NULL,NULL);
CREATE TABLE pair (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	query_pk INTEGER NOT NULL, 
	document_pk INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	judged INTEGER DEFAULT 0 NOT NULL, 
	created_at DATETIME NOT NULL, kept BOOLEAN DEFAULT false NOT NULL, retired_at DATETIME, wanted INTEGER DEFAULT 0 NOT NULL, lacking INTEGER DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_pair PRIMARY KEY (pk), 
	CONSTRAINT fk_pair_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_pair_document_pk FOREIGN KEY(document_pk) REFERENCES document (pk), 
	CONSTRAINT fk_pair_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk), 
	CONSTRAINT uq_pair_key UNIQUE ("key"), 
	CONSTRAINT uq_pair_query_pk_document_pk UNIQUE (query_pk, document_pk)
);
INSERT INTO "pair" VALUES(1,1,1,1,'08cea382c7b2e98be65232d7',2,'2026-03-04 05:06:07.000000',0,NULL,2,0);
INSERT INTO "pair" VALUES(2,1,1,2,'715775c1c52f2fec9fb5e64b',2,'2026-03-04 05:06:07.000000',0,NULL,2,0);
INSERT INTO "pair" VALUES(3,1,1,3,'72bcf950f8f9efffa4f235c1',2,'2026-03-04 05:06:07.000000',0,NULL,2,0);
INSERT INTO "pair" VALUES(4,1,1,4,'e321048961a30e62cf228e71',2,'2026-03-04 05:06:07.000000',0,NULL,2,0);
INSERT INTO "pair" VALUES(5,1,2,5,'c5e3bddef02198d3d6165e01',2,'2026-03-04 05:06:07.000000',0,NULL,2,0);
INSERT INTO "pair" VALUES(6,1,2,6,'7289db0c9a1f48bedc511a7d',1,'2026-03-04 05:06:07.000000',0,NULL,2,1);
INSERT INTO "pair" VALUES(7,1,2,7,'1464d5be5c0337b54ff8ca8c',0,'2026-03-04 05:06:07.000000',0,NULL,2,2);
INSERT INTO "pair" VALUES(8,1,3,8,'e668d82e259c09d71aa50354',2,'2026-03-04 05:06:07.000000',0,NULL,2,0);
INSERT INTO "pair" VALUES(9,1,3,9,'7fe410bb8655e82d71c200c3',0,'2026-03-04 05:06:07.000000',0,NULL,2,2);
CREATE TABLE person (
	pk INTEGER NOT NULL, 
	username VARCHAR NOT NULL, 
	name TEXT NOT NULL, 
	password_hash VARCHAR, 
	must_change_password BOOLEAN NOT NULL, 
	simulated BOOLEAN NOT NULL, 
	disabled_at DATETIME, 
	created_at DATETIME NOT NULL, language VARCHAR, 
	CONSTRAINT pk_person PRIMARY KEY (pk), 
	CONSTRAINT uq_person_username UNIQUE (username)
);
INSERT INTO "person" VALUES(1,'花子','花子 Realname','$argon2id$v=19$m=65536,t=3,p=4$x',0,0,NULL,'2026-03-04 05:06:07.000000',NULL);
INSERT INTO "person" VALUES(2,'민준','민준 Realname',NULL,0,0,NULL,'2026-03-04 05:06:07.000000',NULL);
INSERT INTO "person" VALUES(3,'editor','editor Realname',NULL,0,0,NULL,'2026-03-04 05:06:07.000000',NULL);
CREATE TABLE pool_round (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	made_at DATETIME NOT NULL, 
	made_by INTEGER, 
	strategy VARCHAR NOT NULL, 
	options JSON NOT NULL, 
	figures JSON NOT NULL, 
	CONSTRAINT pk_pool_round PRIMARY KEY (pk), 
	CONSTRAINT ck_pool_round_number CHECK (number >= 1), 
	CONSTRAINT fk_pool_round_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_pool_round_made_by FOREIGN KEY(made_by) REFERENCES person (pk), 
	CONSTRAINT uq_pool_round_dataset_pk_number UNIQUE (dataset_pk, number)
);
INSERT INTO "pool_round" VALUES(1,1,1,'2026-03-07 05:06:07.123456',NULL,'depth','{"depth": 3}','{"\u03a3": [0.1, 1e+300]}');
CREATE TABLE proposal (
	pair_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	proposed_at DATETIME NOT NULL, 
	CONSTRAINT pk_proposal PRIMARY KEY (pair_pk), 
	CONSTRAINT fk_proposal_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_proposal_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk)
);
INSERT INTO "proposal" VALUES(1,1,'2026-03-07 05:06:07.123456');
CREATE TABLE provenance (
	pair_pk INTEGER NOT NULL, 
	system VARCHAR NOT NULL, 
	rank INTEGER, 
	score FLOAT, 
	signals JSON NOT NULL, 
	CONSTRAINT pk_provenance PRIMARY KEY (pair_pk, system), 
	CONSTRAINT fk_provenance_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk)
);
INSERT INTO "provenance" VALUES(1,'bm25',1,1.5,'{}');
INSERT INTO "provenance" VALUES(2,'bm25',2,1.5,'{}');
INSERT INTO "provenance" VALUES(3,'bm25',3,1.5,'{}');
INSERT INTO "provenance" VALUES(4,'bm25',4,1.5,'{}');
INSERT INTO "provenance" VALUES(5,'bm25',3,1.5,'{}');
INSERT INTO "provenance" VALUES(6,'bm25',1,1.5,'{}');
INSERT INTO "provenance" VALUES(7,'bm25',2,1.5,'{}');
INSERT INTO "provenance" VALUES(8,'bm25',1,1.5,'{}');
INSERT INTO "provenance" VALUES(9,'bm25',NULL,1.5,'{}');
CREATE TABLE pseudonym (
	dataset_pk INTEGER NOT NULL, 
	person_pk INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	CONSTRAINT pk_pseudonym PRIMARY KEY (dataset_pk, person_pk), 
	CONSTRAINT fk_pseudonym_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_pseudonym_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk), 
	CONSTRAINT uq_pseudonym_dataset_pk_number UNIQUE (dataset_pk, number)
);
INSERT INTO "pseudonym" VALUES(1,2,1);
INSERT INTO "pseudonym" VALUES(1,1,2);
INSERT INTO "pseudonym" VALUES(1,3,3);
CREATE TABLE quality_draw (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	drawn_by_pk INTEGER, 
	rate FLOAT NOT NULL, 
	seed INTEGER NOT NULL, 
	population INTEGER NOT NULL, 
	outside INTEGER NOT NULL, 
	drawn_at DATETIME NOT NULL, 
	CONSTRAINT pk_quality_draw PRIMARY KEY (pk), 
	CONSTRAINT ck_quality_draw_rate CHECK (rate > 0 AND rate <= 1), 
	CONSTRAINT ck_quality_draw_population CHECK (population >= 1), 
	CONSTRAINT ck_quality_draw_outside CHECK (outside >= 0), 
	CONSTRAINT ck_quality_draw_round CHECK (round >= 1), 
	CONSTRAINT fk_quality_draw_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_quality_draw_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk), 
	CONSTRAINT fk_quality_draw_drawn_by_pk FOREIGN KEY(drawn_by_pk) REFERENCES person (pk), 
	CONSTRAINT uq_quality_draw_dataset_pk_number UNIQUE (dataset_pk, number)
);
INSERT INTO "quality_draw" VALUES(1,1,1,1,1,NULL,0.1,3,40,2,'2026-03-07 05:06:07.123456');
CREATE TABLE quality_pair (
	draw_pk INTEGER NOT NULL, 
	pair_pk INTEGER NOT NULL, 
	settled_grade INTEGER NOT NULL, 
	settled_by VARCHAR NOT NULL, 
	judgment_pk INTEGER, 
	outcome VARCHAR, 
	grade INTEGER, 
	answered_at DATETIME, 
	CONSTRAINT pk_quality_pair PRIMARY KEY (draw_pk, pair_pk), 
	CONSTRAINT ck_quality_pair_settled_grade CHECK (settled_grade IN (0, 1, 2, 3)), 
	CONSTRAINT ck_quality_pair_outcome CHECK (outcome IN ('graded', 'unrateable')), 
	CONSTRAINT ck_quality_pair_grade CHECK (grade IN (0, 1, 2, 3)), 
	CONSTRAINT fk_quality_pair_draw_pk FOREIGN KEY(draw_pk) REFERENCES quality_draw (pk), 
	CONSTRAINT fk_quality_pair_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_quality_pair_judgment_pk FOREIGN KEY(judgment_pk) REFERENCES judgment (pk)
);
INSERT INTO "quality_pair" VALUES(1,1,2,'unanimous',NULL,NULL,NULL,NULL);
CREATE TABLE "query" (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	query_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	category TEXT, 
	language TEXT, 
	query_type TEXT, 
	difficulty TEXT, 
	primary_domain TEXT, 
	narrative TEXT, 
	extra JSON NOT NULL, 
	CONSTRAINT pk_query PRIMARY KEY (pk), 
	CONSTRAINT fk_query_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT uq_query_dataset_pk_query_id UNIQUE (dataset_pk, query_id)
);
INSERT INTO "query" VALUES(1,1,1,'Q1','RESTful Webサービスの構成: yes #1','handler','ja',NULL,'easy',NULL,NULL,'{"needs_a2a": false, "needs_rne": true}');
INSERT INTO "query" VALUES(2,1,2,'Q2','17조 "검색"
',NULL,NULL,'specific_article',NULL,'도시계획',NULL,'{}');
INSERT INTO "query" VALUES(3,1,3,'Q3','no',NULL,'en',NULL,NULL,NULL,NULL,'{}');
CREATE TABLE query_answers (
	query_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	answered INTEGER NOT NULL, 
	answered_open INTEGER NOT NULL, 
	CONSTRAINT pk_query_answers PRIMARY KEY (query_pk, annotator_pk), 
	CONSTRAINT fk_query_answers_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk), 
	CONSTRAINT fk_query_answers_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk), 
	CONSTRAINT fk_query_answers_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk)
);
INSERT INTO "query_answers" VALUES(1,1,1,4,0);
INSERT INTO "query_answers" VALUES(1,2,1,4,0);
INSERT INTO "query_answers" VALUES(2,1,1,2,1);
INSERT INTO "query_answers" VALUES(2,2,1,1,0);
INSERT INTO "query_answers" VALUES(3,1,1,1,0);
INSERT INTO "query_answers" VALUES(3,2,1,1,0);
CREATE TABLE query_score (
	query_pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	scores JSON NOT NULL, 
	CONSTRAINT pk_query_score PRIMARY KEY (query_pk), 
	CONSTRAINT fk_query_score_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk), 
	CONSTRAINT fk_query_score_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk)
);
INSERT INTO "query_score" VALUES(1,1,'{"bm25": [0.5, 1.0, 0.25]}');
CREATE TABLE query_work (
	query_pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	open_pairs INTEGER NOT NULL, 
	begun_pairs INTEGER NOT NULL, 
	CONSTRAINT pk_query_work PRIMARY KEY (query_pk), 
	CONSTRAINT fk_query_work_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk), 
	CONSTRAINT fk_query_work_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk)
);
INSERT INTO "query_work" VALUES(2,1,2,1);
INSERT INTO "query_work" VALUES(3,1,1,0);
CREATE TABLE question (
	pk INTEGER NOT NULL, 
	pair_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	asked_at DATETIME NOT NULL, 
	answer TEXT, 
	answered_by_pk INTEGER, 
	answered_at DATETIME, 
	in_guideline BOOLEAN DEFAULT false NOT NULL, 
	CONSTRAINT pk_question PRIMARY KEY (pk), 
	CONSTRAINT fk_question_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_question_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk), 
	CONSTRAINT fk_question_answered_by_pk FOREIGN KEY(answered_by_pk) REFERENCES person (pk)
);
INSERT INTO "question" VALUES(1,1,1,'이 문서는?','2026-03-07 05:06:07.123456','はい',NULL,'2026-03-07 05:06:07.123456',0);
CREATE TABLE release (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	version VARCHAR NOT NULL, 
	published_by INTEGER, 
	created_at DATETIME NOT NULL, 
	note TEXT NOT NULL, 
	content_sha256 VARCHAR NOT NULL, 
	sums TEXT NOT NULL, 
	manifest JSON NOT NULL, signature TEXT, 
	CONSTRAINT pk_release PRIMARY KEY (pk), 
	CONSTRAINT fk_release_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_release_published_by FOREIGN KEY(published_by) REFERENCES person (pk), 
	CONSTRAINT uq_release_dataset_pk_version UNIQUE (dataset_pk, version)
);
INSERT INTO "release" VALUES(1,1,'1.0.0',3,'2026-03-04 05:06:07.000000','','146a90cbca71c9b3538f36cc360085bfa8c12dd7832c061c0acf2947e91890a2','73c3d6b2d1c8a0945d2e2621fda0322201b19e8138f076e39d0a770cb3c88a31  CHANGES.md
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
','{"dataset": "\u691c\u7d22-\ubc95\ub839", "version": "1.0.0", "created_at": "2026-03-04T05:06:07Z", "published_by": "lead_3", "note": "", "authors": null, "contact": null, "licence": null, "source": null, "scale": [{"grade": 0, "name": "Not relevant", "definition": "Does not help with this query, even if it shares words with it."}, {"grade": 1, "name": "Marginally relevant", "definition": "Touches the topic; useful context, but answers no part."}, {"grade": 2, "name": "Highly relevant", "definition": "Answers an important part, or all of it with effort."}, {"grade": 3, "name": "Perfect", "definition": "Answers the query directly and completely; you could stop here."}], "guideline_version": 1, "previous": null, "content_sha256": "146a90cbca71c9b3538f36cc360085bfa8c12dd7832c061c0acf2947e91890a2", "list_grade_0": false, "counts": {"queries": 3, "queries_without_qrels": 1, "pairs": 9, "qrels": 6, "by_grade": {"0": 1, "1": 1, "2": 3, "3": 1}, "unanimous": 4, "adjudicated": 1, "single": 1, "imported": 0, "disagreement": 0, "unrateable": 1, "unjudged": 2}, "order": {"tied": 2, "by_lead": 0, "by_earlier": 0, "undecided": 2, "queries_undecided": 1, "queries_without_relevant": 0}, "agreement": {"annotators": ["annotator_1", "annotator_2"], "pairs": 5, "observed_agreement": 0.8, "cohen_kappa": {"unweighted": {"value": 0.736842, "ci95": [0.0, 1.0]}, "linear": {"value": 0.6875, "ci95": [0.0, 1.0]}, "quadratic": {"value": 0.6875, "ci95": [0.0, 1.0]}}, "fleiss_kappa": {"value": 0.72973, "ci95": [-1.0, 1.0]}, "krippendorff_alpha": {"nominal": {"value": 0.756757, "ci95": [-0.5, 1.0]}, "ordinal": {"value": 0.709677, "ci95": [-0.5, 1.0]}, "interval": {"value": 0.709677, "ci95": [-0.5, 1.0]}}, "gwet_ac1": {"value": 0.734969, "ci95": [-0.263158, 1.0]}, "gwet_ac2": {"value": 0.6947, "ci95": [-0.116279, 1.0]}, "cut_points": [{"relevant_from": 1, "cohen_kappa": {"value": 1.0, "ci95": [1.0, 1.0]}}, {"relevant_from": 2, "cohen_kappa": {"value": 0.615385, "ci95": [0.0, 1.0]}}, {"relevant_from": 3, "cohen_kappa": {"value": 0.545455, "ci95": [0.0, 1.0]}}], "annotator_pairs": [{"annotators": ["annotator_1", "annotator_2"], "pairs": 5, "queries": 2, "warning": "too few pairs for a conclusion: 5 pairs of 2 queries; aim for 30 pairs of 10 queries", "observed_agreement": 0.8, "cohen_kappa": {"unweighted": {"value": 0.736842, "ci95": [0.0, 1.0]}, "linear": {"value": 0.6875, "ci95": [0.0, 1.0]}, "quadratic": {"value": 0.6875, "ci95": [0.0, 1.0]}}, "confusion": [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]]}], "groups": [{"by": "category", "value": "handler", "pairs": 4, "warning": "too few pairs for a conclusion: 4 pairs of 1 query; aim for 30 pairs of 10 queries", "observed_agreement": 1.0, "cohen_kappa": {"unweighted": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "linear": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "quadratic": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}}, "krippendorff_alpha": {"nominal": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "ordinal": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "interval": {"value": 1.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}}}, {"by": "category", "value": null, "pairs": 1, "warning": "too few pairs for a conclusion: 1 pair of 1 query; aim for 30 pairs of 10 queries", "observed_agreement": 0.0, "cohen_kappa": {"unweighted": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "linear": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "quadratic": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}}, "krippendorff_alpha": {"nominal": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "ordinal": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}, "interval": {"value": 0.0, "ci95": null, "why": "a confidence interval needs shared pairs of two or more queries"}}}], "resamples": 1000, "seed": 7}, "gates": [{"name": "kappa", "required": 0.7, "measured": 0.736842, "met": false, "override": {"reason": "\u5c0f\u3055\u3044\u4f8b", "by": "lead_3"}, "why": "The target of 0.7 cannot be checked yet: Cohen''s kappa is 0.74 [0.00, 1.00], but two annotators have judged only 5 pairs of 2 queries, too few to rely on. At least 30 pairs of 10 queries are needed. Have two annotators judge another 25 pairs or so. See where the annotators differ on the page Agreement."}, {"name": "disagreements", "required": 0, "measured": 0, "met": true, "override": null, "why": null}, {"name": "overlap", "required": 0, "measured": 3, "met": false, "override": {"reason": "\u5c0f\u3055\u3044\u4f8b", "by": "lead_3"}, "why": "3 pairs have fewer than 2 judgments. They are waiting for annotators on the page Label."}, {"name": "quality_control", "required": 0.05, "measured": null, "met": false, "override": {"reason": "\u5c0f\u3055\u3044\u4f8b", "by": "lead_3"}, "why": "Not done. Draw a sample."}, {"name": "coverage", "required": 0, "measured": 0, "met": true, "override": null, "why": "No requirements are declared."}, {"name": "unjudged_queries", "required": 0, "measured": 1, "met": false, "override": {"reason": "\u5c0f\u3055\u3044\u4f8b", "by": "lead_3"}, "why": "1 query has no settled grade and would be missing in the release. Judge its documents, or add documents to its pool."}, {"name": "relevant", "required": 0, "measured": 0, "met": true, "override": null, "why": null}, {"name": "stale", "required": 0, "measured": 0, "met": true, "override": null, "why": null}], "files": [{"path": "CHANGES.md", "sha256": "73c3d6b2d1c8a0945d2e2621fda0322201b19e8138f076e39d0a770cb3c88a31", "bytes": 90}, {"path": "DATASHEET.md", "sha256": "9958e5c40dae389bd51b6fef4a89209adbe5b0aae52b03f3e9e03dbc957d662d", "bytes": 6931}, {"path": "assay-queries.yaml", "sha256": "345cdf6de2063c8d920c0e55991fb0ee904b3ec5a7f87c29e023625e11e11d30", "bytes": 744}, {"path": "assay.yaml", "sha256": "38680ec64ce28e99807ec31c38f27869ce1d206f550268394eccec7389581b5a", "bytes": 919}, {"path": "beir/corpus.jsonl", "sha256": "038cb9894192964dbd94b03fac6879674c6a86b118bf6837ca7e06afbe2485b8", "bytes": 641}, {"path": "beir/qrels/test.tsv", "sha256": "a2c03b5b59439e31d15059de4816b62e04e75e9b7211a43c43bd629413395dae", "bytes": 110}, {"path": "beir/queries.jsonl", "sha256": "0c8dc54ea970b779cbf389d53d19d792a847eaffd5395fe1f188afe5e8a9406d", "bytes": 308}, {"path": "judgments.csv", "sha256": "2f8d128c611ffcd94b63093c9e5f145367f9671bc3462a113bca1699b4857846", "bytes": 1107}, {"path": "law-compact.json", "sha256": "724796a1da44e590d01b34cd7c26077aa2146a32302cd5ee3b1035371135fa71", "bytes": 645}, {"path": "law.json", "sha256": "3838f9f59d01ac58f4692042d87a4de2bc87c29e92e339006ece8c7b114952e9", "bytes": 1430}, {"path": "nablarch.yaml", "sha256": "3ad92bfb5a7eb377a36dafd27de5ce22b7265581b11a52baedb6094e3bcf3b16", "bytes": 1044}, {"path": "pictures/confusion.svg", "sha256": "1d60e1765ce2c3564574ca5da4c44573a36e569f76d38d07513719b54e27be2f", "bytes": 3966}, {"path": "pictures/grades.svg", "sha256": "e2ccc5fd8de5a4c2aa4f77b982fddea108e59866691959a5cb2b0504e0a34c85", "bytes": 1684}, {"path": "qrels.trec.txt", "sha256": "6158dde98ee2f7943adb1e9b5e2aab085ce7cd2c019fb800452a64b14f80d316", "bytes": 97}, {"path": "ranked.json", "sha256": "ade1c80e1eaefc0d23d3823f62a8af2647f8a4824805d444fecf5221275fc924", "bytes": 469}]}',NULL);
CREATE TABLE release_qrel (
	release_pk INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	query_id TEXT NOT NULL, 
	doc_id TEXT NOT NULL, 
	grade INTEGER NOT NULL, 
	origin VARCHAR NOT NULL, judgments TEXT, adjudication_pk INTEGER, imported_qrel_pk INTEGER, 
	CONSTRAINT pk_release_qrel PRIMARY KEY (release_pk, position), 
	CONSTRAINT ck_release_qrel_grade CHECK (grade IN (0, 1, 2, 3)), 
	CONSTRAINT fk_release_qrel_release_pk FOREIGN KEY(release_pk) REFERENCES release (pk), 
	CONSTRAINT uq_release_qrel_release_pk_query_id_doc_id UNIQUE (release_pk, query_id, doc_id)
);
INSERT INTO "release_qrel" VALUES(1,0,'Q1','Q1/three',3,'unanimous','5 6',NULL,NULL);
INSERT INTO "release_qrel" VALUES(1,1,'Q1','Q1/two',2,'unanimous','3 4',NULL,NULL);
INSERT INTO "release_qrel" VALUES(1,2,'Q1','Q1/one',1,'unanimous','7 8',NULL,NULL);
INSERT INTO "release_qrel" VALUES(1,3,'Q1','Q1/zero',0,'unanimous','1 2',NULL,NULL);
INSERT INTO "release_qrel" VALUES(1,4,'Q2','é🎯',2,'single','11',NULL,NULL);
INSERT INTO "release_qrel" VALUES(1,5,'Q2','법률_제17조',2,'adjudicated','9 10',1,NULL);
CREATE TABLE release_query (
	release_pk INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	query_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_release_query PRIMARY KEY (release_pk, position), 
	CONSTRAINT fk_release_query_release_pk FOREIGN KEY(release_pk) REFERENCES release (pk), 
	CONSTRAINT uq_release_query_release_pk_query_id UNIQUE (release_pk, query_id)
);
INSERT INTO "release_query" VALUES(1,0,'Q1','RESTful Webサービスの構成: yes #1');
INSERT INTO "release_query" VALUES(1,1,'Q2','17조 "검색"
');
CREATE TABLE remap (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	old_doc_id TEXT NOT NULL, 
	new_doc_id TEXT NOT NULL, 
	kind VARCHAR NOT NULL, 
	remapped_at DATETIME NOT NULL, 
	CONSTRAINT pk_remap PRIMARY KEY (pk), 
	CONSTRAINT ck_remap_kind CHECK (kind IN ('renamed', 'split', 'merged')), 
	CONSTRAINT fk_remap_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk)
);
INSERT INTO "remap" VALUES(1,1,'旧','新','renamed','2026-03-07 05:06:07.123456');
CREATE TABLE repeated_pair (
	pk INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	pair_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	handed_at DATETIME NOT NULL, 
	answered_at DATETIME, 
	CONSTRAINT pk_repeated_pair PRIMARY KEY (pk), 
	CONSTRAINT fk_repeated_pair_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_repeated_pair_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk), 
	CONSTRAINT uq_repeated_pair_key UNIQUE ("key"), 
	CONSTRAINT uq_repeated_pair_annotator_pk_pair_pk UNIQUE (annotator_pk, pair_pk)
);
INSERT INTO "repeated_pair" VALUES(1,'repeat-1',1,1,'2026-03-07 05:06:07.123456',NULL);
CREATE TABLE round_pair (
	pair_pk INTEGER NOT NULL, 
	round_pk INTEGER NOT NULL, 
	stratum TEXT, 
	inclusion FLOAT, 
	CONSTRAINT pk_round_pair PRIMARY KEY (pair_pk), 
	CONSTRAINT ck_round_pair_inclusion CHECK (inclusion > 0 AND inclusion <= 1), 
	CONSTRAINT fk_round_pair_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_round_pair_round_pk FOREIGN KEY(round_pk) REFERENCES pool_round (pk)
);
INSERT INTO "round_pair" VALUES(1,1,'1-5',0.3);
CREATE TABLE rubric (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	title TEXT NOT NULL, 
	guideline TEXT NOT NULL, 
	grades JSON NOT NULL, 
	created_at DATETIME NOT NULL, change VARCHAR DEFAULT 'semantic' NOT NULL CONSTRAINT ck_rubric_change CHECK (change IN ('minor', 'semantic')), why TEXT, author_pk INTEGER CONSTRAINT fk_rubric_author_pk REFERENCES person (pk), language TEXT CONSTRAINT ck_rubric_language CHECK (language <> ''), translations JSON DEFAULT '[]' NOT NULL, 
	CONSTRAINT pk_rubric PRIMARY KEY (pk), 
	CONSTRAINT fk_rubric_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT uq_rubric_dataset_pk_version UNIQUE (dataset_pk, version)
);
INSERT INTO "rubric" VALUES(1,1,1,'Graded relevance, 0 to 3','Judge each document on its own, for the person who typed this query.

- Ask what the searcher needs, not which words match.
- In doubt between two grades, take the lower one and say why in the note.
- Judge alone; differences are settled afterwards.
','[{"grade": 0, "name": "Not relevant", "definition": "Does not help with this query, even if it shares words with it.", "positive_examples": [], "negative_examples": []}, {"grade": 1, "name": "Marginally relevant", "definition": "Touches the topic; useful context, but answers no part.", "positive_examples": [], "negative_examples": []}, {"grade": 2, "name": "Highly relevant", "definition": "Answers an important part, or all of it with effort.", "positive_examples": [], "negative_examples": []}, {"grade": 3, "name": "Perfect", "definition": "Answers the query directly and completely; you could stop here.", "positive_examples": [], "negative_examples": []}]','2026-03-04 05:06:07.000000','semantic',NULL,NULL,NULL,'[]');
CREATE TABLE run (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	system VARCHAR NOT NULL, 
	content_sha256 VARCHAR NOT NULL, 
	imported_at DATETIME NOT NULL, import_record_pk INTEGER CONSTRAINT fk_run_import_record_pk REFERENCES import_record (pk), query_signals JSON DEFAULT '{}' NOT NULL, 
	CONSTRAINT pk_run PRIMARY KEY (pk), 
	CONSTRAINT fk_run_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT uq_run_dataset_pk_system UNIQUE (dataset_pk, system)
);
INSERT INTO "run" VALUES(1,1,'bm25','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','2026-03-07 05:06:07.123456',NULL,'{"Q1": {"latency_ms": 12.5}}');
CREATE TABLE run_entry (
	run_pk INTEGER NOT NULL, 
	query_pk INTEGER NOT NULL, 
	document_pk INTEGER NOT NULL, 
	rank INTEGER NOT NULL, 
	score FLOAT, 
	signals JSON NOT NULL, 
	CONSTRAINT pk_run_entry PRIMARY KEY (run_pk, query_pk, document_pk), 
	CONSTRAINT fk_run_entry_document_pk FOREIGN KEY(document_pk) REFERENCES document (pk), 
	CONSTRAINT fk_run_entry_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk), 
	CONSTRAINT fk_run_entry_run_pk FOREIGN KEY(run_pk) REFERENCES run (pk), 
	CONSTRAINT uq_run_entry_run_pk_query_pk_rank UNIQUE (run_pk, query_pk, rank)
);
INSERT INTO "run_entry" VALUES(1,1,1,1,3.00000000000000044408e-01,'{"\u0000": "\u00e9\u0301"}');
CREATE TABLE score_due (
	query_pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	CONSTRAINT pk_score_due PRIMARY KEY (query_pk), 
	CONSTRAINT fk_score_due_query_pk FOREIGN KEY(query_pk) REFERENCES "query" (pk), 
	CONSTRAINT fk_score_due_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk)
);
INSERT INTO "score_due" VALUES(1,1);
INSERT INTO "score_due" VALUES(2,1);
INSERT INTO "score_due" VALUES(3,1);
CREATE TABLE score_total (
	dataset_pk INTEGER NOT NULL, 
	queries INTEGER NOT NULL, 
	scores JSON NOT NULL, 
	CONSTRAINT pk_score_total PRIMARY KEY (dataset_pk), 
	CONSTRAINT fk_score_total_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk)
);
INSERT INTO "score_total" VALUES(1,1,'{"bm25": [0.5, 1.0, 0.25]}');
CREATE TABLE seen_answer (
	question_pk INTEGER NOT NULL, 
	answered_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_seen_answer PRIMARY KEY (question_pk), 
	CONSTRAINT fk_seen_answer_question_pk FOREIGN KEY(question_pk) REFERENCES question (pk)
);
INSERT INTO "seen_answer" VALUES(1,'2026-03-07 05:06:07.123456','2026-03-07 05:06:07.123456');
CREATE TABLE seen_decision (
	pair_pk INTEGER NOT NULL, 
	person_pk INTEGER NOT NULL, 
	adjudication_pk INTEGER NOT NULL, 
	seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_seen_decision PRIMARY KEY (pair_pk, person_pk), 
	CONSTRAINT fk_seen_decision_adjudication_pk FOREIGN KEY(adjudication_pk) REFERENCES adjudication (pk), 
	CONSTRAINT fk_seen_decision_pair_pk FOREIGN KEY(pair_pk) REFERENCES pair (pk), 
	CONSTRAINT fk_seen_decision_person_pk FOREIGN KEY(person_pk) REFERENCES person (pk)
);
INSERT INTO "seen_decision" VALUES(1,1,1,'2026-03-07 05:06:07.123456');
CREATE TABLE settle_batch (
	pk INTEGER NOT NULL, 
	dataset_pk INTEGER NOT NULL, 
	lead_pk INTEGER NOT NULL, 
	policy VARCHAR NOT NULL, 
	rationale TEXT NOT NULL, 
	pairs INTEGER NOT NULL, 
	made_at DATETIME NOT NULL, 
	undone_at DATETIME, 
	undone_by_pk INTEGER, 
	CONSTRAINT pk_settle_batch PRIMARY KEY (pk), 
	CONSTRAINT ck_settle_batch_policy CHECK (policy IN ('median', 'lower', 'higher')), 
	CONSTRAINT fk_settle_batch_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk), 
	CONSTRAINT fk_settle_batch_lead_pk FOREIGN KEY(lead_pk) REFERENCES person (pk), 
	CONSTRAINT fk_settle_batch_undone_by_pk FOREIGN KEY(undone_by_pk) REFERENCES person (pk)
);
INSERT INTO "settle_batch" VALUES(1,1,1,'median','中央値',1,'2026-03-07 05:06:07.123456',NULL,NULL);
CREATE TABLE told_progress (
	dataset_pk INTEGER NOT NULL, 
	annotator_pk INTEGER NOT NULL, 
	answered INTEGER NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	reserve_until INTEGER, 
	CONSTRAINT pk_told_progress PRIMARY KEY (dataset_pk, annotator_pk), 
	CONSTRAINT ck_told_progress_done CHECK (done <= total), 
	CONSTRAINT fk_told_progress_annotator_pk FOREIGN KEY(annotator_pk) REFERENCES person (pk), 
	CONSTRAINT fk_told_progress_dataset_pk FOREIGN KEY(dataset_pk) REFERENCES dataset (pk)
);
INSERT INTO "told_progress" VALUES(1,1,1,1,4,NULL);
CREATE INDEX ix_login_attempt_address_at ON login_attempt (address, at);
CREATE INDEX ix_login_attempt_username_at ON login_attempt (username, at);
CREATE INDEX ix_login_session_person_pk ON login_session (person_pk);
CREATE UNIQUE INDEX uq_membership_everywhere ON membership (person_pk) WHERE dataset_pk IS NULL;
CREATE UNIQUE INDEX uq_membership_one ON membership (person_pk, dataset_pk);
CREATE INDEX ix_pair_dataset_pk_judged ON pair (dataset_pk, judged);
CREATE INDEX ix_pair_query_pk_judged ON pair (query_pk, judged);
CREATE INDEX ix_pair_document_pk ON pair (document_pk);
CREATE INDEX ix_lease_annotator_pk ON lease (annotator_pk);
CREATE TRIGGER judgment_no_delete BEFORE DELETE ON judgment BEGIN SELECT RAISE(ABORT, 'judgment is append-only'); END;
CREATE TRIGGER rubric_no_update BEFORE UPDATE ON rubric BEGIN SELECT RAISE(ABORT, 'rubric is append-only'); END;
CREATE TRIGGER rubric_no_delete BEFORE DELETE ON rubric BEGIN SELECT RAISE(ABORT, 'rubric is append-only'); END;
CREATE TRIGGER release_no_update BEFORE UPDATE ON release BEGIN SELECT RAISE(ABORT, 'release is append-only'); END;
CREATE TRIGGER release_no_delete BEFORE DELETE ON release BEGIN SELECT RAISE(ABORT, 'release is append-only'); END;
CREATE TRIGGER release_qrel_no_update BEFORE UPDATE ON release_qrel BEGIN SELECT RAISE(ABORT, 'release_qrel is append-only'); END;
CREATE TRIGGER release_qrel_no_delete BEFORE DELETE ON release_qrel BEGIN SELECT RAISE(ABORT, 'release_qrel is append-only'); END;
CREATE INDEX ix_imported_qrel_pair_pk ON imported_qrel (pair_pk);
CREATE INDEX ix_remap_dataset_pk ON remap (dataset_pk);
CREATE TRIGGER imported_qrel_no_update BEFORE UPDATE ON imported_qrel BEGIN SELECT RAISE(ABORT, 'imported_qrel is append-only'); END;
CREATE TRIGGER imported_qrel_no_delete BEFORE DELETE ON imported_qrel BEGIN SELECT RAISE(ABORT, 'imported_qrel is append-only'); END;
CREATE TRIGGER remap_no_update BEFORE UPDATE ON remap BEGIN SELECT RAISE(ABORT, 'remap is append-only'); END;
CREATE TRIGGER remap_no_delete BEFORE DELETE ON remap BEGIN SELECT RAISE(ABORT, 'remap is append-only'); END;
CREATE TRIGGER release_query_no_update BEFORE UPDATE ON release_query BEGIN SELECT RAISE(ABORT, 'release_query is append-only'); END;
CREATE TRIGGER release_query_no_delete BEFORE DELETE ON release_query BEGIN SELECT RAISE(ABORT, 'release_query is append-only'); END;
CREATE INDEX ix_query_work_dataset_pk ON query_work (dataset_pk);
CREATE INDEX ix_query_answers_annotator ON query_answers (annotator_pk, dataset_pk);
CREATE INDEX ix_assignment_person_pk ON assignment (person_pk);
CREATE INDEX ix_question_pair_pk ON question (pair_pk);
CREATE INDEX ix_question_annotator_pk ON question (annotator_pk);
CREATE INDEX ix_pair_lacking ON pair (query_pk) WHERE lacking > 0;
CREATE INDEX ix_current_judgment_stale ON current_judgment (dataset_pk, annotator_pk) WHERE stale > 0;
CREATE INDEX ix_quality_pair_pair_pk ON quality_pair (pair_pk);
CREATE INDEX ix_judgment_checks ON judgment (pair_pk, purpose) WHERE purpose NOT IN ('independent', 'conditional');
CREATE TRIGGER adjudication_no_update BEFORE UPDATE ON adjudication BEGIN SELECT RAISE(ABORT, 'adjudication is append-only'); END;
CREATE TRIGGER adjudication_no_delete BEFORE DELETE ON adjudication BEGIN SELECT RAISE(ABORT, 'adjudication is append-only'); END;
CREATE INDEX ix_current_adjudication_dataset_pk ON current_adjudication (dataset_pk);
CREATE INDEX ix_dispute_distance ON dispute (dataset_pk, open, distance, since, pair_pk);
CREATE INDEX ix_dispute_impact ON dispute (dataset_pk, open, impact, since, pair_pk);
CREATE INDEX ix_dispute_since ON dispute (dataset_pk, open, since, pair_pk);
CREATE INDEX ix_dispute_query_pk ON dispute (query_pk);
CREATE INDEX ix_query_score_dataset_pk ON query_score (dataset_pk);
CREATE INDEX ix_score_due_dataset_pk ON score_due (dataset_pk);
CREATE INDEX ix_case_assignment_lead_pk ON case_assignment (lead_pk);
CREATE INDEX ix_audit_event_dataset_pk ON audit_event (dataset_pk, pk);
CREATE INDEX ix_audit_event_pair_pk ON audit_event (pair_pk);
CREATE TRIGGER audit_event_no_update BEFORE UPDATE ON audit_event BEGIN SELECT RAISE(ABORT, 'audit_event is append-only'); END;
CREATE TRIGGER audit_event_no_delete BEFORE DELETE ON audit_event BEGIN SELECT RAISE(ABORT, 'audit_event is append-only'); END;
CREATE INDEX ix_import_record_dataset_pk ON import_record (dataset_pk);
CREATE TRIGGER import_record_no_update BEFORE UPDATE ON import_record BEGIN SELECT RAISE(ABORT, 'import_record is append-only'); END;
CREATE TRIGGER import_record_no_delete BEFORE DELETE ON import_record BEGIN SELECT RAISE(ABORT, 'import_record is append-only'); END;
CREATE INDEX ix_judgment_pair_annotator_order ON judgment (pair_pk, annotator_pk, pk);
CREATE TRIGGER judgment_no_update BEFORE UPDATE ON judgment BEGIN SELECT RAISE(ABORT, 'judgment is append-only'); END;
CREATE INDEX ix_document_order_query_pk ON document_order (query_pk);
CREATE TRIGGER document_order_no_update BEFORE UPDATE ON document_order BEGIN SELECT RAISE(ABORT, 'document_order is append-only'); END;
CREATE TRIGGER document_order_no_delete BEFORE DELETE ON document_order BEGIN SELECT RAISE(ABORT, 'document_order is append-only'); END;
CREATE INDEX ix_known_device_person_pk ON known_device (person_pk);
CREATE INDEX ix_round_pair_round_pk ON round_pair (round_pk);
CREATE INDEX ix_left_out_document_pk ON left_out (document_pk);
CREATE INDEX ix_left_out_kept_document_pk ON left_out (kept_document_pk);
CREATE INDEX ix_one_time_link_dataset_pk ON one_time_link (dataset_pk);
CREATE INDEX ix_current_judgment_annotator_outcome ON current_judgment (dataset_pk, annotator_pk, outcome, made_at);
COMMIT;
