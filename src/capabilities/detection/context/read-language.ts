import { languageNamed } from './identify-language.ts'
import type { Instruction } from './instruction.ts'
import type { Statement } from './ledger.ts'

/** Reads "always answer in French" and its kin. */
export function readLanguage({ sentence, body, is_lasting }: Instruction): Statement[] {
  for (const pattern of patterns) {
    const value = languageNamed(pattern.exec(body)?.[1] ?? '')
    if (value === undefined) continue
    const lasts = is_lasting || lastingVerb.test(body)
    return [
      {
        kind: 'language',
        slot: 'language',
        value,
        holds: lasts ? 'always' : 'turn',
        quote: sentence,
      },
    ]
  }
  return []
}

const lastingVerb = /^(?:switch|change|stick|stay|continue|keep)\b|\binstead\b/i

const patterns: readonly RegExp[] = [
  /^(?:only |exclusively )?(?:answer|reply|respond|write|speak|talk|communicate|converse|continue|say (?:it|that)|explain (?:it|that)|answer me|reply to (?:me|us|the user|users|the customer|customers)|respond to (?:me|us|the user|users|the customer|customers)|talk to me)(?: (?:only|exclusively|strictly|everything|always|to (?:me|us|the user|users|the customer|customers)|all (?:questions|messages))){0,3} (?:in|en|auf)(?: only)?(?: (?:formal|informal|simple|plain|polite|british|american))? (\p{L}+)/iu,
  /^(?:use|speak|switch to|switch back to|change to|stick to|stay in|keep to|go back to|continue in|write in)(?: only)?(?: (?:formal|informal|simple|plain|british|american))? (\p{L}+)(?: only| exclusively| for .{0,40}| from now on| instead| again| please|,? .{0,12})?[.!]?$/iu,
  /^(?:all|every|each|your)(?: of your)?(?: (?:answers?|repl(?:y|ies)|responses?|messages?|output)){1,2} (?:must|should|have to|has to|need to|needs to|are to|is to|will|shall)(?: always| only)? be (?:written |given )?(?:only |exclusively )?in (\p{L}+)/iu,
  /^(?:in )?(\p{L}+)(?:,)? (?:only|please)[.!]?$/iu,
  /^(?:in|auf|en) (\p{L}+)[.!]?$/iu,
  /^(?:antworte|antworten sie|schreibe?|sprich)(?: \p{L}+){0,3} (?:auf|in) (\p{L}+)/iu,
  /^(?:réponds|répondez|écris|parle)(?: \p{L}+){0,3} en (\p{L}+)/iu,
  /^(?:responde|responda|contesta|escribe|habla)(?: \p{L}+){0,3} en (\p{L}+)/iu,
]
