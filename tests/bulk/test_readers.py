import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deg_core.bulk.job import plan_shards
from deg_core.bulk.readers import open_corpus
from deg_core.contract.errors import InputError


def read(path, **columns):
    return list(open_corpus(path, **columns).documents())


def check_resumable(path, documents):
    """Reading on from any document gives the same documents as reading from the first."""
    reader = open_corpus(path)
    for document in documents:
        assert list(reader.documents(document.number, document.offset)) == documents[document.number :]


def test_json_lines(tmp_path):
    path = tmp_path / "c.jsonl"
    lines = [
        b'\xef\xbb\xbf{"doc_id": "a", "text": "One \xc3\xa9"}',
        b"",
        b'{"doc_id": "b", "text": "cut off',
        b'{"doc_id": 7, "text": {"k": [1, "\xc3\xa9"]}}',
        b'{"doc_id": "c", "text": "latin \xe9"}',
        b'{"doc_id": "d", "text": "  "}',
        b'{"doc_id": "e", "text": null}',
        b'{"doc_id": "f"}',
        b'["g"]',
        b'{"doc_id": "h", "text": "zero \\u0000 byte"}',
        b'{"doc_id": "i", "text": "half \\ud83d"}',
        b'{"doc_id": "j", "text": 5}',
        b"[" * 100_000,
        b'{"doc_id": "a", "text": "again, no newline at the end"}',
    ]
    path.write_bytes(b"\n".join(lines))
    documents = read(path)
    assert [document.number for document in documents] == list(range(13))
    assert [document.doc_id for document in documents] == list("a1") + ["7", "3"] + list("def7hij") + ["11", "a"]
    texts = {document.number: document.text for document in documents if document.error is None}
    assert texts == {0: "One é", 2: '{"k": [1, "é"]}', 12: "again, no newline at the end"}
    errors = {document.number: document.error for document in documents if document.text is None}
    assert "not JSON" in errors[1] and "column" in errors[1] and f"byte {len(lines[0]) + 2}" in errors[1]
    assert "not UTF-8 (byte 0xe9" in errors[3]
    assert errors[4] == "empty document" and "null" in errors[5] and "'text'" in errors[6]
    assert "a JSON object is needed" in errors[7] and "zero byte" in errors[8] and "not UTF-8" in errors[9]
    assert "text" in errors[10] and "not JSON" in errors[11]
    check_resumable(path, documents)


def test_csv(tmp_path):
    path = tmp_path / "c.csv"
    long = "x" * 300_000
    path.write_bytes(
        b"\xef\xbb\xbfdoc_id,text\r\n"
        b'a,"two\nlines, and ""quotes"""\r\n'
        b"\r\n"
        b"b,caf\xe9\r\n"
        b"c\r\n"
        b'd,"bad"quote\r\n'
        b",no id\r\n"
        b"e,\r\n" + f"f,{long}\r\n".encode() + b"g,last"
    )
    documents = read(path)
    assert [document.doc_id for document in documents] == ["a", "b", "2", "3", "4", "e", "f", "g"]
    assert documents[0].text == 'two\nlines, and "quotes"'
    assert documents[1].error == "not UTF-8 (at character 3); convert it to UTF-8"
    assert documents[2].error == "1 cells where the header has 2"
    assert documents[3].error.startswith("at byte 60: not CSV")
    assert documents[4].text == "no id" and documents[5].error == "empty document"
    assert documents[6].text == long and documents[7].text == "last"
    check_resumable(path, documents)


def test_tab_separated(tmp_path):
    path = tmp_path / "c.TSV"
    path.write_text("body\tdoc_id\na, b\t1\n")
    assert [(d.doc_id, d.text) for d in read(path, text_column="body")] == [("1", "a, b")]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.binary()])
def test_parquet(tmp_path, kind):
    path = tmp_path / "c.parquet"
    texts = ["one", None, "", "four", "five"] * 40
    ids = [*range(199), None]
    table = pa.table({"id": ids, "other": texts, "text": pa.array(texts).cast(kind)})
    pq.write_table(table, path, row_group_size=70)
    reader = open_corpus(path, id_column="id")
    documents = list(reader.documents())
    assert [document.doc_id for document in documents] == [str(number) for number in range(200)]
    assert [document.text for document in documents[:5]] == ["one", None, None, "four", "five"]
    assert documents[1].error == "no text (null)" and documents[2].error == "empty document"
    for number in (0, 1, 69, 70, 139, 199):
        assert list(reader.documents(number, documents[number].offset)) == documents[number:]


def test_parquet_text_that_is_not_utf8(tmp_path):
    path = tmp_path / "c.parquet"
    text = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\x00\0\0\0\x02\0\0\0\x04\0\0\0"), pa.py_buffer(b"ok\xe9!")]
    )
    pq.write_table(pa.table({"text": text}), path)
    first, second = read(path)
    assert first.text == "ok" and second.error.startswith("not UTF-8 (byte 0xe9 at 0)")


def test_folder(tmp_path):
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("hidden")
    (root / "b.txt").write_bytes(b"line\r\nline")
    (root / "a.md").write_bytes(b"\xef\xbb\xbfmark")
    (root / "sub" / "c").write_bytes(b"deep")
    (root / "empty.txt").write_bytes(b"\n")
    (root / "latin.txt").write_bytes("é".encode("latin-1"))
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    documents = read(root)
    assert [document.doc_id for document in documents] == sorted(
        ["a.md", "b.txt", "empty.txt", "latin.txt", "picture.png", "sub/c"]
    )
    found = {document.doc_id: document.text or document.error for document in documents}
    assert found["b.txt"] == "line\r\nline" and found["a.md"] == "mark" and found["sub/c"] == "deep"
    assert found["empty.txt"] == "empty document" and "binary data" in found["picture.png"]
    assert found["latin.txt"] == "not UTF-8 (byte 0xe9 at 0); convert it to UTF-8"
    check_resumable(root, documents)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "no corpus at"),
        ("c.docx", b"PK", "'.docx' is no known kind"),
        ("c.jsonl", b"\n\n", "holds no documents"),
        ("c.csv", b"", "holds no documents"),
        ("c.csv", b"text\n", "holds no documents"),
        ("c.jsonl", b'{"body": "x"}\n{"id": 1}\n', "no column 'text'; there are 'body', 'id'"),
        ("c.csv", b"id;text\n1;x\n", "no column 'text'; there are 'id;text'"),
        ("c.csv", b"text,a,a\n1,2,3\n", "names a column twice"),
        ("c.parquet", b"not parquet", "not a readable Parquet file"),
    ],
)
def test_unusable_corpus(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        open_corpus(tmp_path / name)


def test_unusable_parquet_columns_and_folder(tmp_path):
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"text": [1, 2], "id": ["a", "b"]}), path)
    with pytest.raises(InputError, match="'text' is int64, not text"):
        open_corpus(path)
    with pytest.raises(InputError, match="no column 'body'; there are 'text', 'id'"):
        open_corpus(path, text_column="body")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no documents"):
        open_corpus(tmp_path / "empty")


@pytest.mark.parametrize("size", [1, 3, 10, 11])
def test_shards_cover_the_corpus_once(tmp_path, size):
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps({"text": f"text {n}"}) + "\n\n" for n in range(10)))
    reader = open_corpus(path)
    shards = plan_shards(reader, size)
    assert [shard.index for shard in shards] == list(range(-(-10 // size)))
    numbers = [number for shard in shards for number in range(shard.start, shard.stop)]
    assert numbers == list(range(10)) and all(len(shard) == size for shard in shards[:-1])
    for shard in shards:
        assert next(reader.documents(shard.start, shard.offset)).text == f"text {shard.start}"


def test_a_quote_that_is_never_closed_is_refused_with_its_place(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text('doc_id,text\na,fine\nb,"open\nc,lost\n')
    documents = open_corpus(path).documents()
    assert next(documents).doc_id == "a"
    with pytest.raises(InputError, match="begins at byte 19 is never closed"):
        next(documents)


def test_a_damaged_page_is_refused_with_its_row(tmp_path):
    path = tmp_path / "c.parquet"
    table = pa.table({"doc_id": ["a", "b"], "text": ["first text", "second text"]})
    pq.write_table(table, path, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    place = data.index(b"first text")
    data[place - 4 : place] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged at row 0"):
        list(open_corpus(path).documents())


def test_linked_folders_are_read_once_and_pipes_are_told(tmp_path):
    corpus, elsewhere = tmp_path / "corpus", tmp_path / "elsewhere"
    corpus.mkdir()
    elsewhere.mkdir()
    (corpus / "a.txt").write_text("first")
    (elsewhere / "b.txt").write_text("second")
    (corpus / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(corpus)
    os.mkfifo(corpus / "pipe")
    found = {document.doc_id: document.text or document.error for document in read(corpus)}
    assert found == {"a.txt": "first", "linked/b.txt": "second", "pipe": "is no regular file"}
