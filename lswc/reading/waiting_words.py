"""What pages say until their scripts have run: pleas to let them run, and that something loads."""

from __future__ import annotations

import re

MAX_WAITING = 80
"""Characters of what only says that something loads, or whose page it is."""

# What scripts are called, JavaScript or not.
_SCRIPTS = re.compile(
    r"java\s?script|\bscripts?\b|\bJS\b|脚本|腳本|指令碼|スクリプト|스크립트|สคริป|จาวา|скрипт"
    r"|स्क्रिप्ट|স্ক্রিপ্ট|ਸਕ੍ਰਿਪਟ|સ્ક્રિપ્ટ|ஸ்கிரிப்ட்|స్క్రిప్ట్|ಸ್ಕ್ರಿಪ್ಟ್|സ്ക്രിപ്റ്റ്|ස්ක්\u200d?රිප්ට්"
    r"|سكريبت|سكربت|اسکریپت|جافا|جاوا|סקריפט|σκριπτ|სკრიპტ|սկրիպտ|ስክሪፕት|ສະຄຣິບ|ສະກຣິບ|ຈາວາ"
    r"|ស្គ្រីប|ចាវ៉ា|စခရစ်|ဂျာဗား",
    re.IGNORECASE,
)
_LOADS = re.compile(
    r"\bloading\b|please wait|\bone moment\b|initiali[sz]ing|กำลังโหลด|กำลังดาวน์โหลด|กำลังเตรียม"
    r"|รอสัก|โปรดรอ|加载|加載|載入|载入|读取中|讀取中|请稍|請稍|読み込|読込|お待ち|ロード中|로딩"
    r"|로드 중|불러오는|기다려|загруз|завантаж|подождите|зачекайте|зареждане|учитава|chargement"
    r"|patiente|cargando|espere|carregando|aguarde|wird geladen|\blädt\b|\blade\b"
    r"|bitte warten|caricamento|attendere|đang tải|vui lòng (?:chờ|đợi)|\bmemuat|mohon tunggu"
    r"|yükleniyor|lütfen bekle"
    r"|ładowanie|wczytywanie|proszę czekać|načít|nahráv|čekejte|betölt|se încarcă|φόρτωση"
    r"|περιμένετε|\bladdar|indlæser|\blaster\b|ladataan|\bladen\b|تحميل|انتظر|بارگذاری|بارگیری|لوڈ"
    r"|טוען|लोड|প্রতীক্ষা|লোড|ஏற்று|లోడ్|ലോഡ്|ಲೋಡ್|લોડ|පූරණය|ກຳລັງໂຫຼດ|ກຳລັງໂຫລດ|កំពុងផ្ទុក"
    r"|កំពុងដំណើរការ|ဖွင့်နေ|ခဏ|იტვირთება|բեռն",
    re.IGNORECASE,
)
_OWNED = re.compile(
    r"©|ⓒ|\(c\)|copyright|rights ?reserved|ลิขสิทธิ์|版权|版權|著作権|저작권|bản ?quyền"
    r"|derechos|direitos|tous ?droits|alle ?rechte|diritti|все ?права|hak ?cipta|حقوق"
    r"|ລິຂະສິດ|រក្សាសិទ្ធិ",
    re.IGNORECASE,
)
# Most come from style sheets, in English.
_NAMES = ("loading", "loader", "spinner", "skeleton", "splash", "preload", "shimmer")
_SIGNS = tuple(name.encode() for name in (*_NAMES, "aria-busy", "progress"))
WAITING = ",".join((
    *(f"[{attribute}*={name} i]" for attribute in ("class", "id") for name in _NAMES),
    *(f"img[src*={name} i]" for name in _NAMES),
    "[aria-busy=true],[role=progressbar],progress",
))  # fmt: skip
"""A selector of elements that are shown until something has loaded."""


def may_wait(markup: bytes) -> bool:
    """Tell whether a page may have elements that are shown until something has loaded."""
    lower = markup.lower()
    return any(sign in lower for sign in _SIGNS)


def is_plea(text: str) -> bool:
    """Tell whether what a page says without scripts names them: it wants them, in any language."""
    return _SCRIPTS.search(text) is not None


def waits(text: str) -> bool:
    """Tell whether a text says only that something loads."""
    return len(text) <= MAX_WAITING and _LOADS.search(text) is not None


def is_notice(text: str) -> bool:
    """Tell whether a text says only whose page it is."""
    return len(text) <= MAX_WAITING and _OWNED.search(text) is not None
