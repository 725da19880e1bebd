import { isChangeVerb } from '../../../provenance/text/index.ts'
import type { DeclaredTool } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'
import { isReadingName, natureOfTool } from './tool-effect.ts'
import { toWordSet, wordsOfTool } from './tool-words.ts'

/**
 * A declared tool that changes something: the stems of its verbs, and the other stems of its name,
 * description and arguments that no other declared tool has, by which a text is about this tool.
 */
export type DeclaredAction = {
  name: string
  verbs: ReadonlySet<string>
  own: ReadonlySet<string>
}

const stem_chars = 5
const text_chars_max = 2_000

/** Returns the declared tools that change something, as their names and descriptions say. */
export const readActions = remember((tools: readonly DeclaredTool[]): readonly DeclaredAction[] => {
  const stems = tools.map(stemsOfTool)
  return tools.flatMap((tool, at) => {
    if (!isAction(tool)) return []
    const others = new Set(stems.flatMap((words, other) => (other === at ? [] : [...words])))
    const own = stemsOf([...nameAndText(tool), ...argumentNames(tool)].join(' '))
    const verbs = stemsOf(nameAndText(tool).filter(isVerb).join(' '))
    return [
      { name: tool.name, verbs, own: own.difference(others).difference(general).difference(verbs) },
    ]
  })
})

function stemsOfTool(tool: DeclaredTool): ReadonlySet<string> {
  return stemsOf(nameAndText(tool).join(' '))
}

function nameAndText({ name, description }: DeclaredTool): readonly string[] {
  return [...wordsOfTool(name), ...wordsOfTool(description)]
}

function argumentNames({ schema }: DeclaredTool): readonly string[] {
  return Object.keys(Object(schema?.['properties'])).flatMap(wordsOfTool)
}

/** Tells whether a tool changes something: its name does, or its description begins or ends with a verb. */
function isAction({ name, description }: DeclaredTool): boolean {
  if (natureOfTool(name).isEffect) return true
  if (isReadingName(name) || natureOfTool(name).isEnd) return false
  const words = wordsOfTool(description)
  const text = `${name} ${description}`
  return (
    wordsOfTool(name).some(isVerb) ||
    isVerb(words[0] ?? '') ||
    (words.length > 1 && isVerb(words.at(-1) ?? '')) ||
    hanVerbs.test(text)
  )
}

function isVerb(word: string): boolean {
  return isChangeVerb(word) || furtherVerbs.has(word) || foreignVerbs.test(plain(word))
}

const furtherVerbs = toWordSet(
  'hand ask tell inform message call forward redeem redirect hold attach upload accept confirm grant link',
)

/** Beginnings of infinitives and nouns of changes in German, French and Spanish, without accents. */
const foreignVerbs =
  /^(?:aktivier|ander|anleg|anmeld|beantrag|bestell|buch|eintrag|entsperr|erstell|freigeb|freigab|gutschrift|hinterleg|kundig|losch|meld|nachsend|reservier|ruckruf|rueckruf|schick|send|sperr|stornier|uberweis|umbuch|verlanger|verschieb|versend|wechsel|\w+wechsel$|\w+anderung$|activ|actualiz|annul|anul|apart|bloq|bloquer|cambi|cancel|command|crear|creer|desbloq|enregistr|envi|envoy|inscri|modifi|pagar|pedir|prolong|rembours|reserv|resili|solicit|transf|vir(?:er|ement)|ajout|anadir|agreg|reprogram|report)/
const hanVerbs =
  /申请|申請|取消|修改|变更|変更|预订|预约|予約|发送|送信|退款|返金|创建|提交|登记|登録|更改|冻结/

/** Stems of words that any tool can have. */
const general = stemsOf(
  'the and for with from new into del los las por una des les une der die das den ein eine einen von number nummer numero name nombre nom code text date datum fecha day days time zeit hora field value reason note details info data free list customer kunde cliente client order orders account user',
)

/**
 * Returns the stems of a text's words: five letters of longer ones, in lower case and without accents;
 * of Chinese and Japanese, each two neighbouring characters. Words of one or two letters are left out.
 */
export function stemsOf(text: string): ReadonlySet<string> {
  const stems = new Set<string>()
  for (const [word] of plain(text.slice(0, text_chars_max)).matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/\p{Script=Han}/u.test(word)) {
      for (let at = 0; at + 1 < word.length; at++) stems.add(word.slice(at, at + 2))
    } else if (word.length > 2) stems.add(word.slice(0, stem_chars))
  }
  return stems
}

function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
