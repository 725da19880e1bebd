/** Names of recognisable languages by ISO 639-1, in the languages in which rules are read. */
const names: readonly (readonly [code: string, words: string])[] = [
  ['en', 'english|englisch|englischen|anglais|inglés|inglese|inglês|英文|英语|英語'],
  ['fr', 'french|français|francais|französisch|francés|francese|法语|法文|フランス語'],
  ['de', 'german|deutsch|deutschen|allemand|alemán|tedesco|德语|德文|ドイツ語'],
  [
    'es',
    'spanish|español|espanol|castellano|spanisch|espagnol|spagnolo|西班牙语|西班牙文|スペイン語',
  ],
  ['it', 'italian|italiano|italienisch|italien|意大利语|イタリア語'],
  ['pt', 'portuguese|português|portugués|portugiesisch|portugais|葡萄牙语|ポルトガル語'],
  ['nl', 'dutch|nederlands|niederländisch|néerlandais|holandés|neerlandés|荷兰语|オランダ語'],
  ['pl', 'polish|polski|polnisch|polonais|polaco|波兰语|ポーランド語'],
  ['sv', 'swedish|svenska|schwedisch|suédois|sueco|瑞典语|スウェーデン語'],
  ['tr', 'turkish|türkçe|türkisch|turc|turco|土耳其语|トルコ語'],
  ['ru', 'russian|russisch|russe|ruso|русский|俄语|俄文|ロシア語'],
  ['ja', 'japanese|japanisch|japonais|japonés|日语|日文|日本語'],
  ['zh', 'chinese|mandarin|chinesisch|chinois|chino|mandarín|中文|汉语|漢語|普通话|中国語'],
  ['ko', 'korean|koreanisch|coréen|coreano|韩语|韩文|韓国語'],
  ['ar', 'arabic|arabisch|arabe|árabe|阿拉伯语|アラビア語'],
  ['he', 'hebrew|hebräisch|hébreu|hebreo'],
  ['el', 'greek|griechisch|grec|griego|希腊语|ギリシャ語'],
  ['hi', 'hindi|印地语|ヒンディー語'],
  ['th', 'thai|thailändisch|thaï|tailandés|泰语|タイ語'],
]

const codes = new Map(
  names.flatMap(([code, words]) => words.split('|').map((word) => [word, code] as const)),
)

/** Returns the code of a language's name. */
export function findLanguageCode(name: string): string | undefined {
  return codes.get(name.toLowerCase())
}

/** Tells whether two letters are the code of a recognisable language. */
export function isLanguageCode(code: string): boolean {
  return names.some(([one]) => one === code)
}

/** Source of a regular expression for all names. */
export const languageSource = [...codes.keys()]
  .sort((one, other) => other.length - one.length)
  .join('|')
