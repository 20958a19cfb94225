"""Words and sentences of the demo web's languages, and Burmese in Zawgyi's code points."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True)
class Vocabulary:
    """Parts of sentences, one a line; a pattern names the parts it is made of in braces."""

    patterns: str
    when: str
    who: str
    does: str
    why: str
    topic: str
    place: str
    links: str  # anchor texts that name no page
    home: str
    next: str
    previous: str
    end: str  # of a sentence

    @cached_property
    def _parts(self) -> dict[str, list[str]]:
        names = ("when", "who", "does", "why", "topic", "place", "patterns", "links")
        return {name: getattr(self, name).strip().splitlines() for name in names}

    def pick(self, part: str, random: Random) -> str:
        """Return one of the part's lines, the parts it names filled in."""
        line = random.choice(self._parts[part])
        while "{" in line:
            line = re.sub(r"\{(\w+)\}", lambda name: random.choice(self._parts[name[1]]), line)
        return line

    def sentence(self, random: Random) -> str:
        """Return a sentence."""
        text = self.pick("patterns", random) + self.end
        return text[0].upper() + text[1:]


THAI = Vocabulary(
    patterns="""
{when} {who}{does} {why}
{who}{does} {when}
{who}{does} {why} ซึ่งเป็นเรื่องที่น่าสนใจมากสำหรับคนไทย
{when} มีข่าวว่า{who}{does}
เราเชื่อว่า{topic}เป็นสิ่งสำคัญของ{place} และ{who}ก็เห็นด้วย
หากท่านสนใจ{topic} กรุณาติดต่อสอบถามได้ที่{place}
""",
    when="""
เมื่อวานนี้
ในปีที่ผ่านมา
ทุกวันเสาร์และวันอาทิตย์
ระหว่างเดือนเมษายนถึงเดือนพฤษภาคม
ตั้งแต่เช้าจนถึงเย็น
ก่อนเทศกาลสงกรานต์
หลังจากฝนตกหนัก
ในช่วงปิดภาคเรียน
สัปดาห์หน้า
เมื่อสิบปีก่อน
""",
    who="""
นักเรียนชั้นมัธยม
ชาวบ้านในหมู่บ้าน
นักท่องเที่ยวจำนวนมาก
อาจารย์มหาวิทยาลัย
เกษตรกรในภาคอีสาน
เจ้าหน้าที่ของรัฐบาล
ผู้ประกอบการรายย่อย
พระสงฆ์และสามเณร
เจ้าหน้าที่ห้องสมุด
ครอบครัวของเรา
คณะกรรมการชุดใหม่
สมาชิกของชมรม
นักวิจัยรุ่นใหม่
ช่างภาพและนักเขียน
""",
    does="""
เดินทางไปเที่ยว{place}
ศึกษาประวัติศาสตร์ของ{place}
จัดนิทรรศการเรื่อง{topic}ที่{place}
แลกเปลี่ยนความคิดเห็นเรื่อง{topic}
เผยแพร่บทความเกี่ยวกับ{topic}
เปิดร้านขายของที่{place}
ช่วยกันอนุรักษ์{topic}
ประชุมเพื่อวางแผนเรื่อง{topic}
เขียนหนังสือเกี่ยวกับ{place}และ{topic}
ถ่ายภาพ{place}ไว้เป็นที่ระลึก
เรียนรู้เรื่อง{topic}จากผู้เฒ่าผู้แก่
""",
    why="""
เพื่อให้ลูกหลานได้เรียนรู้
เพราะอยากให้ทุกคนมีความสุข
เพื่อส่งเสริมการท่องเที่ยว
ตามนโยบายของกระทรวงศึกษาธิการ
โดยไม่เสียค่าใช้จ่าย
ด้วยความร่วมมือของทุกฝ่าย
และได้รับความสนใจอย่างมาก
แม้ว่าอากาศจะร้อนมาก
""",
    topic="""
ภาษาและวรรณคดีไทย
อาหารพื้นบ้าน
ดนตรีไทย
การศึกษา
สุขภาพและสมุนไพร
เศรษฐกิจพอเพียง
ศิลปะและวัฒนธรรม
ผ้าไหมและหัตถกรรม
การเกษตรและข้าว
กีฬาและมวยไทย
คอมพิวเตอร์และอินเทอร์เน็ต
ธรรมะและพระพุทธศาสนา
ประเพณีลอยกระทง
สิ่งแวดล้อมและป่าไม้
""",
    place="""
จังหวัดเชียงใหม่
กรุงเทพมหานคร
พระนครศรีอยุธยา
จังหวัดขอนแก่น
เกาะสมุย
จังหวัดนครราชสีมา
หมู่บ้านริมแม่น้ำโขง
ตลาดน้ำดำเนินสะดวก
วัดพระแก้ว
หอสมุดแห่งชาติ
จังหวัดสงขลา
อุทยานแห่งชาติเขาใหญ่
""",
    links="""
อ่านต่อ
คลิกที่นี่
เว็บไซต์ที่เกี่ยวข้อง
รายละเอียดเพิ่มเติม
เพื่อนบ้านของเรา
ข่าวล่าสุด
""",
    home="หน้าแรก",
    next="หน้าถัดไป",
    previous="หน้าก่อน",
    end=" ",
)

ENGLISH = Vocabulary(
    patterns="""
{when}, {who} {does} {why}
{who} {does} {when}
{who} {does} {why}, and that is what this page is about
it was reported that {who} {does} {when}
we believe that {topic} matters a great deal to everybody in {place}
if you would like to know more about {topic}, please write to us in {place}
""",
    when="""
yesterday
over the last few years
every Saturday and Sunday
between April and October
from morning until evening
shortly before the winter holidays
after the heavy rain
during the summer break
next week
about ten years ago
""",
    who="""
the students of the college
many visitors
the members of our society
a group of engineers
the city council
local farmers
the editors of this magazine
our customers
a retired teacher
the football team
most of the readers
a young photographer
the research group
several small companies
""",
    does="""
travelled to {place}
studied the history of {place}
organised an exhibition about {topic} in {place}
exchanged their views on {topic}
published an article about {topic}
opened a small shop in {place}
worked hard to improve {topic}
held a meeting on the future of {topic}
wrote a book about {place} and {topic}
took a large number of pictures of {place}
learned about {topic} from the people of {place}
""",
    why="""
so that their children would be able to learn from it
because they wanted everyone to be happy
in order to attract more visitors
with the help of the government
free of charge
although the weather was very cold
which was widely discussed in the newspapers
""",
    topic="""
computer software
classical music
public health
the history of science
modern art
education and schools
football and tennis
gardening
cooking and good food
travel and hotels
the world economy
animals and plants
railways
books and literature
""",
    place="""
the north of England
New York
the old harbour
the university library
San Francisco
the mountains of Scotland
the national museum
the river valley
Melbourne
the centre of the town
Toronto
the islands in the south
""",
    links="""
read more
click here
related web sites
further details
our friends
latest news
""",
    home="home page",
    next="next page",
    previous="previous page",
    end=". ",
)

JAPANESE = Vocabulary(
    patterns="""
{when}、{who}は{does}
{who}は{why}、{does}
{when}に{who}が{does}という話を聞きました
私たちは{place}にとって{topic}がとても大切だと考えています
{topic}について詳しく知りたい方は、{place}までお問い合わせください
このページでは、{who}と{topic}について紹介しています
""",
    when="""
昨日
ここ数年
毎週土曜日と日曜日
四月から十月までの間
朝から晩まで
お正月の前
大雨のあと
夏休みのあいだ
来週
十年ほど前
""",
    who="""
高校生たち
村の人々
大勢の観光客
大学の先生
北海道の農家
市役所の職員
小さな会社の社長
図書館の司書
私の家族
新しい委員会
会員の皆さん
若い研究者
写真家と作家
""",
    does="""
{place}へ旅行に行きました
{place}の歴史を調べています
{place}で{topic}についての展覧会を開きました
{topic}について意見を交換しました
{topic}に関する記事を発表しました
{place}に小さな店を開きました
{topic}を守るために働いています
{topic}の将来について話し合いました
{place}と{topic}についての本を書きました
{place}の写真をたくさん撮りました
""",
    why="""
子どもたちに伝えるために
みんなに喜んでもらいたいので
観光客を増やすために
文部科学省の方針に従って
無料で
たくさんの人の協力によって
とても寒かったにもかかわらず
""",
    topic="""
日本語と日本文学
郷土料理
伝統音楽
教育
健康と温泉
日本の経済
茶道と生け花
着物と工芸
お米と農業
野球と相撲
コンピュータとインターネット
仏教とお寺
夏祭り
環境と森林
""",
    place="""
京都の町
東京都
奈良の古いお寺
北海道
沖縄の島々
大阪市
富士山のふもと
瀬戸内海の港
国立国会図書館
長野県
九州の温泉
仙台市
""",
    links="""
続きを読む
こちらをクリック
関連サイト
詳しくはこちら
お友だちのページ
最新ニュース
""",
    home="トップページへ",
    next="次のページ",
    previous="前のページ",
    end="。",
)

BURMESE = Vocabulary(
    patterns="""
{when} {who}သည် {does}
{who}သည် {why} {does}
{who}များသည် {when} {does} ဟု သတင်းရရှိသည်
{topic}သည် {place}အတွက် အလွန်အရေးကြီးသည်ဟု ကျွန်တော်တို့ ယုံကြည်သည်
{topic}အကြောင်း သိလိုပါက {place}သို့ ဆက်သွယ်ပါ
""",
    when="""
မနေ့က
ယခုနှစ်တွင်
စနေနေ့နှင့် တနင်္ဂနွေနေ့တိုင်း
မနက်မှ ညနေအထိ
နွေရာသီတွင်
မိုးရွာပြီးနောက်
လာမည့်အပတ်တွင်
လွန်ခဲ့သော ဆယ်နှစ်က
""",
    who="""
ကျောင်းသားကျောင်းသူများ
ရွာသူရွာသားများ
ခရီးသွားများ
ဆရာဆရာမများ
လယ်သမားများ
အစိုးရအရာရှိများ
ရဟန်းတော်များ
စာကြည့်တိုက်မှူး
ကျွန်တော်တို့မိသားစု
အဖွဲ့ဝင်များ
စာရေးဆရာများ
""",
    does="""
{place}သို့ ခရီးထွက်ခဲ့သည်
{place}၏ သမိုင်းကို လေ့လာခဲ့သည်
{place}တွင် {topic}ပြပွဲကို ကျင်းပခဲ့သည်
{topic}အကြောင်း ဆွေးနွေးခဲ့ကြသည်
{topic}ဆိုင်ရာ ဆောင်းပါးများ ရေးသားခဲ့သည်
{place}တွင် ဆိုင်ငယ်တစ်ဆိုင် ဖွင့်ခဲ့သည်
{topic}ကို ထိန်းသိမ်းရန် ကြိုးစားနေကြသည်
{place}၏ ဓာတ်ပုံများကို ရိုက်ကူးခဲ့သည်
""",
    why="""
ကလေးများ သိရှိစေရန်
အားလုံး ပျော်ရွှင်စေရန်
ခရီးသွားလုပ်ငန်း တိုးတက်စေရန်
အခမဲ့
အများပြည်သူ၏ အကူအညီဖြင့်
ရာသီဥတု ပူပြင်းသော်လည်း
""",
    topic="""
မြန်မာစာပေ
မြန်မာ့အစားအစာ
ရိုးရာဂီတ
ပညာရေး
ကျန်းမာရေး
စီးပွားရေး
ယဉ်ကျေးမှု
စိုက်ပျိုးရေး
အားကစား
ကွန်ပျူတာနည်းပညာ
သင်္ကြန်ပွဲတော်
သစ်တောနှင့် သဘာဝပတ်ဝန်းကျင်
""",
    place="""
ရန်ကုန်မြို့
ပုဂံမြို့
ရှမ်းပြည်နယ်
အင်းလေးကန်
ဧရာဝတီမြစ်
ရွှေတိဂုံဘုရား
မော်လမြိုင်မြို့
အမျိုးသားစာကြည့်တိုက်
ကျေးရွာငယ်
""",
    links="""
ဆက်ဖတ်ရန်
ဒီမှာ နှိပ်ပါ
ဆက်စပ်ဝက်ဘ်ဆိုက်များ
အသေးစိတ်
နောက်ဆုံးရသတင်း
""",
    home="ပင်မစာမျက်နှာ",
    next="နောက်စာမျက်နှာ",
    previous="ရှေ့စာမျက်နှာ",
    end="။ ",
)

VOCABULARIES = {"th": THAI, "en": ENGLISH, "ja": JAPANESE, "my": BURMESE}

# Zawgyi puts the vowel sign e and medial ra before their consonant, and kinzi after it.
SYLLABLE = re.compile("(င်္)?([က-ဪဿ])(ျ?)(ြ?)(ွ?)(ှ?)(ေ?)")
KINZI = "\u1064"
ZAWGYI = str.maketrans({"ျ": "\u103a", "ြ": "\u103b", "ွ": "\u103c", "ှ": "\u103d", "်": "\u1039"})


def zawgyi(text: str) -> str:
    """Rewrite Unicode Burmese in Zawgyi's code points; no stacked consonants but kinzi."""
    return SYLLABLE.sub(_reordered, text.replace("ါ်", "\u105a")).translate(ZAWGYI)


def _reordered(syllable: re.Match[str]) -> str:
    kinzi, consonant, ya, ra, wa, ha, e = syllable.groups()
    return f"{e}{ra}{consonant}{KINZI if kinzi else ''}{ya}{wa}{ha}"
