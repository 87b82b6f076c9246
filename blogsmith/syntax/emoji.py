"""Emoji by name, as on GitHub: those that posts use most."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..base.patterns import lazy_pattern

_TABLE = """
100 💯 +1 👍 -1 👎 alarm_clock ⏰ alien 👽 ambulance 🚑 angry 😠 arrow_down ⬇️ arrow_left ⬅️ arrow_right ➡️
arrow_up ⬆️ art 🎨 astonished 😲 avocado 🥑 bar_chart 📊 battery 🔋 beers 🍻 bell 🔔 blue_heart 💙 blush 😊
book 📖 bookmark 🔖 books 📚 boom 💥 brain 🧠 broken_heart 💔 bug 🐛 bulb 💡 cake 🍰 calendar 📆 camera 📷
cat 🐱 chart_with_downwards_trend 📉 chart_with_upwards_trend 📈 clap 👏 clipboard 📋 clock1 🕐 cloud ☁️
coffee ☕ computer 💻 confused 😕 construction 🚧 cookie 🍪 cool 🆒 copyright ©️ crab 🦀 crossed_fingers 🤞
cry 😢 dart 🎯 dizzy 💫 dog 🐶 dragon 🐉 droplet 💧 earth_americas 🌎 email 📧 exclamation ❗ eyes 👀 fire 🔥
fireworks 🎆 flushed 😳 four_leaf_clover 🍀 frog 🐸 gear ⚙️ gem 💎 ghost 👻 gift 🎁 globe_with_meridians 🌐
green_heart 💚 grimacing 😬 grin 😁 grinning 😀 hammer 🔨 handshake 🤝 heart ❤️ heart_eyes 😍
heavy_check_mark ✔️ hourglass ⌛ house 🏠 hugs 🤗 hushed 😯 information_source ℹ️ innocent 😇 joy 😂 key 🔑
keyboard ⌨️ kissing_heart 😘 laughing 😆 link 🔗 lock 🔒 loudspeaker 📢 mag 🔍 mailbox 📫 memo 📝
microscope 🔬 money_with_wings 💸 moon 🌔 muscle 💪 musical_note 🎵 neutral_face 😐 new 🆕 no_entry ⛔
notebook 📓 octopus 🐙 ok 🆗 ok_hand 👌 open_mouth 😮 package 📦 page_facing_up 📄 palm_tree 🌴 panda_face 🐼
paperclip 📎 partying_face 🥳 pencil ✏️ pencil2 ✏️ penguin 🐧 pizza 🍕 point_down 👇 point_left 👈
point_right 👉 point_up ☝️ pray 🙏 purple_heart 💜 pushpin 📌 question ❓ rainbow 🌈 raised_hands 🙌
recycle ♻️ registered ®️ relaxed ☺️ relieved 😌 robot 🤖 rocket 🚀 rofl 🤣 rose 🌹 satisfied 😆 scream 😱
seedling 🌱 see_no_evil 🙈 shrug 🤷 skull 💀 sleeping 😴 slightly_smiling_face 🙂 smile 😄 smiley 😃 smirk 😏
snail 🐌 snake 🐍 snowflake ❄️ snowman ⛄ sob 😭 sparkles ✨ sparkling_heart 💖 star ⭐ star2 🌟
star_struck 🤩 stuck_out_tongue 😛 sun_with_face 🌞 sunflower 🌻 sunglasses 😎 sunny ☀️ surfer 🏄
sweat_smile 😅 tada 🎉 telephone ☎️ telescope 🔭 thinking 🤔 thought_balloon 💭 thumbsdown 👎 thumbsup 👍
tm ™️ trophy 🏆 turtle 🐢 umbrella ☔ unicorn 🦄 unlock 🔓 upside_down_face 🙃 v ✌️ warning ⚠️ wave 👋
whale 🐳 white_check_mark ✅ wink 😉 world_map 🗺️ worried 😟 wrench 🔧 x ❌ yellow_heart 💛 yum 😋 zap ⚡
zzz 💤
"""
_NAMED = tuple(_TABLE.split())
EMOJI: Mapping[str, str] = MappingProxyType(dict(zip(_NAMED[::2], _NAMED[1::2], strict=True)))
"""Name without colons → character."""
EMOJI_NAME = lazy_pattern(r"(?<![\w:]):([a-z0-9_+-]{1,40}):(?![\w:])")


def replace_emoji(masked: str) -> str:
    """Return a text with names such as `:smile:` replaced by emoji. Unknown names stay. masked: text in which
    code and formulas are hidden."""
    return EMOJI_NAME.sub(lambda found: EMOJI.get(found[1], found[0]), masked)
