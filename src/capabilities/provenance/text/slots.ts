/**
 * A thing that agents ask their users for: its names in English, German, French, Spanish, Chinese
 * and Japanese. A slot of ids is asked for with a word such as “number”.
 */
type Slot = {
  key: string
  /** Words of the thing; the beginnings of words suffice. */
  names: string
  /** The value at the start of a text. */
  shape: RegExp
  isId: boolean
}

const code = /^#?(?=[\w/-]{0,30}\d)[a-z0-9]+(?:[-/ ]?[a-z]{0,3}\d[\w-]*)*/i
const ids: readonly [string, string][] = [
  ['order', 'order|bestell|auftrags?|commande|pedido|订单|注文'],
  [
    'booking',
    'booking|reservation|confirmation|buchungs?|réservation|reserva|预订|予約|pnr|locator',
  ],
  ['customer', 'customer|client|kunden|cliente|客户|お客様|顧客'],
  ['member', 'member(?:ship)?|mitglieds?|adhérent|socio|会员|会員'],
  ['account', 'account|a/c|konto|compte|cuenta|账户|账号|口座'],
  ['policy', 'policy|insurance|police|versicherungs?|póliza|保单|証券'],
  ['contract', 'contract|vertrags?|contrat|contrato|合同|契約'],
  ['case', 'case|ticket|incident|fall|vorgangs?|dossier|caso|工单|案件'],
  ['invoice', 'invoice|bill|rechnungs?|facture|factura|发票|請求書'],
  [
    'tracking',
    'tracking|parcel|package|shipment|sendungs?|paket|colis|suivi|envío|paquete|快递|追跡',
  ],
  ['meter', 'meter|serial|zähler|serien|compteur|série|contador|serie|序列|シリアル'],
  ['flight', 'flight|flug|vol|vuelo|航班|便'],
  ['patient', 'patient|patienten|paciente|病人|診察券'],
  ['student', 'student|matrikel|étudiant|estudiante|学生'],
  ['application', 'application|antrags?|demande|solicitud|申请|申請'],
]
const count = /^(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/i

const slots: readonly Slot[] = [
  ...ids.map(([key, names]) => ({ key, names, shape: code, isId: true })),
  {
    key: 'email',
    names: 'e-?mail|mail address|courriel|correo|邮箱|邮件|メール',
    shape: /^[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}/,
    isId: false,
  },
  {
    key: 'phone',
    names:
      'phone|telephone|mobile|cell|telefon|handy|téléphone|portable|teléfono|móvil|电话|手机|電話',
    shape: /^\+?\(?\d[\d ()/-]{5,18}\d/,
    isId: false,
  },
  {
    key: 'plate',
    names:
      '(?:licen[cs]e |number )?plates?|registration number|kennzeichen|immatriculation|matrícula|车牌|ナンバー',
    shape: /^(?=[\w -]{0,10}\d)[a-z0-9]{1,4}[ -]?[a-z0-9]{1,5}(?:[ -][a-z0-9]{1,4})?\b/i,
    isId: false,
  },
  {
    key: 'zip',
    names: 'zip|post(?:al )?codes?|plz|postleitzahl|code postal|código postal|邮编|郵便番号',
    shape: /^[a-z]{0,2}\d[\da-z -]{2,7}\b/i,
    isId: false,
  },
  {
    key: 'birth',
    names:
      'birth|birthday|dob|born|geburts\\p{L}*|geboren|naissance|né|nacimiento|生日|出生|生年月日',
    shape: /^(?:\d{1,2}|\d{4}|\p{Lu}\p{Ll}{2,8})[ .\p{L}\d,/-]{4,20}\d/u,
    isId: false,
  },
  {
    key: 'people',
    names:
      'people|persons|guests|adults|travell?ers|diners|personen|gäste|personnes|personas|几位|人数|何名',
    shape: count,
    isId: false,
  },
  {
    key: 'nights',
    names: 'nights?|nächte|nuits|noches|几晚|何泊',
    shape: count,
    isId: false,
  },
  {
    key: 'size',
    names: 'size|größe|taille|talla|尺码|サイズ',
    shape: /^(?:x{0,3}[sml]|\d{1,3})\b/i,
    isId: false,
  },
  {
    key: 'name',
    names: 'name|nombre|nom|姓名|名前',
    shape: /^\p{Lu}[\p{L}’'-]+(?: \p{Lu}[\p{L}’'-]+){0,2}/u,
    isId: false,
  },
]

const idWords = 'numbers?|no\\.?|nr\\.?|ids?|code|ref(?:erence)?|nummer|numéro|n°|número|号码?|番号'
const ofWords =
  '(?: (?:of|for|on|de|du|del|des|der|für)(?: (?:the|your|la|le|votre|su|ihrer|ihres))?)?'

/** Names of a slot in questions and statements, with and without its word of identity. */
const namesOf = new Map(
  slots.map(({ key, names, isId }) => {
    const thing = `(?:${names})`
    const asked = isId
      ? `${thing}s?[ -]?(?:${idWords})|(?:${idWords})${ofWords} ${thing}|pnr|record locator`
      : `${thing}(?:[- ]?(?:${idWords}))?`
    const ofSlot = isId && key !== 'booking' ? asked.replace('|pnr|record locator', '') : asked
    return [
      key,
      {
        asked: new RegExp(
          `(?<!\\p{Script=Latin})(?:${ofSlot})(?!\\p{Script=Latin})|(?:${names})(?=是|は|を)`,
          'iu',
        ),
        told: new RegExp(`(?<![\\p{Script=Latin}-])${thing}`, 'giu'),
        argument: new RegExp(`(?<!\\p{L})${thing}(?!\\p{L})`, 'iu'),
      },
    ]
  }),
)

/** A question for the value of a slot. */
type AskedSlot = { sentence: string; key: string }

/** Returns the slots whose values sentences ask for. */
export function readAskedSlots(sentences: readonly string[]): AskedSlot[] {
  return sentences.flatMap((sentence) => {
    if (!asksForValue(sentence)) return []
    return slots
      .filter(
        ({ key }) => namesOf.get(key)?.asked.test(sentence) === true && isMeant(key, sentence),
      )
      .map(({ key }) => ({ sentence, key }))
  })
}

/** Tells whether a sentence asks the user for an own value, and not whether something is right. */
export function asksForValue(sentence: string): boolean {
  return isAsking(sentence) && !foreign.test(sentence)
}

/** Tells whether a sentence asks the user to say a value. */
function isAsking(sentence: string): boolean {
  if (/[?？]["'”’)\]]*$/.test(sentence)) return !proposal.test(sentence)
  return requests.test(sentence)
}

/** Questions that propose something, or ask whether it is so. */
const proposal =
  /^(?:(?:and|so|then|but|great|ok(?:ay)?|perfect|sure)[,!.]? )?(?:is|are|was(?= (?:it|that|this|the|there|your)\b)|were|does|did|has|have|should|shall|would (?:that|it|you like (?:me|to))|do you (?:want|wish)|soll|ist|sind|stimmt|passt|est-ce|c'est|voulez|souhaitez|es|quiere|desea|le parece)\b|(?:, |– )(?:right|correct|yes|ok)\W*$|\bdo i need\b/i

const requests =
  /\b(?:please|kindly|tell me|give me|let me have|let me know|share|provide|state|specify|send me|(?:i|we)(?:'ll|'d| will| would| do)? (?:just |only |still |also |first )*(?:need|require)|bitte|nennen|brauche|benötig\p{L}*|veuillez|merci de|j'ai besoin|indi(?:quez|que)|necesito|facilite|proporcione|d[ií]game|por favor)\b|请|请问|ください|教えて/iu

/** Words for a value of another person or thing, for a check, or for another place of the value. */
const foreign =
  /\b(?:confirm|verify|check|another|other|new|different|second|third|next|alternative|instead of your|else|once more|correct|exactly|full card|brother|sister|husband|wife|friend|partner|child|driver|recipient|sender|sending|billing|emergency|company|from|spell|secure|keep|ready|put the|use the|quote the|bring|to your|in your|with your|by your|anderen?|neue[nrs]?|zweite[nrs]?|alten?|autre|nouve(?:au|lle)|otr[oa]|nuev[oa]|confirm\p{L}+|bestätig\p{L}+|vérifi\p{L}+|his|her|their|sons?|daughter|mother|father|colleague|seiner?|ihm|sohn|tochter|fils|fille|hij[oa]|(?<!what|it|let|that|where|here|who)['’]s)\b|另|新的|別の|新しい/iu

function isMeant(key: string, sentence: string): boolean {
  if (key === 'name')
    return !/\b(?:user|file|product|street|file|brand) ?name|name (?:of|on|in)\b|names\b/i.test(
      sentence,
    )
  if (key === 'people' || key === 'nights')
    return /\b(?:how many|number of|wie viele|combien|cuánt[oa]s)\b|几|何/i.test(sentence)
  if (key === 'email') return !/\b(?:by|via|per|an?) e-?mail\b/i.test(sentence)
  if (key === 'phone') return !/\bby phone\b/i.test(sentence)
  if (key === 'size') return /\b(?:what|which|welche|quelle|qué)\b/i.test(sentence)
  return true
}

/** A value that the user gave for a slot. */
export type ToldSlot = { key: string; value: string; quote: string }

/** Returns the values of slots that sentences state. */
export function readToldSlots(sentences: readonly string[]): ToldSlot[] {
  return sentences.flatMap((quote) => {
    if (elsewhere.test(quote)) return []
    return slots.flatMap(({ key, shape }) => {
      const value = readTold(quote, key, shape)
      return value === undefined ? [] : [{ key, value, quote }]
    })
  })
}

const elsewhere = /\b(?:don't know|do not know|not sure|no idea|weiß nicht|ne sais pas|no sé)\b/i

function readTold(sentence: string, key: string, shape: RegExp): string | undefined {
  if (key === 'email') return /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}/.exec(sentence)?.[0]
  if (key === 'name') return introduction.exec(sentence)?.groups?.['name']
  if (key === 'people' || key === 'nights') return countBefore(sentence, key)
  for (const match of sentence.matchAll(namesOf.get(key)?.told ?? /$^/g)) {
    const rest = sentence.slice(match.index + match[0].length)
    const between =
      /^\p{L}{0,8}[^\p{L}\d]{0,3}(?:(?!and |und |et |y )\p{L}{1,9}[^\p{L}\d]{1,3}){0,4}?(?=#?\p{L}{0,4}[- ]?\d)/u.exec(
        rest,
      )
    const value = between === null ? undefined : shape.exec(rest.slice(between[0].length))?.[0]
    if (value !== undefined && /\d/.test(value)) return value
  }
  return undefined
}

const introduction =
  /(?:^|[\s,;.])(?:my name is|my name's|(?:the )?name(?:'s| is|:)?|this is|i am|i'm|ich heiße|mein name ist|je m'appelle|me llamo|soy) (?<name>\p{Lu}[\p{L}’'-]+(?: \p{Lu}[\p{L}’'-]+){0,2})(?=$|[.,;!?]| (?:here|from|and)\b)/u

function countBefore(sentence: string, key: string): string | undefined {
  const after =
    key === 'nights'
      ? 'nights?|nächte|nuits|noches|晚|泊'
      : 'people|persons|guests|adults|of us|pax|travell?ers|personen|personnes|personas|人|名'
  const found = new RegExp(
    `(?<!\\p{L})(?<n>\\d{1,3}|${numbers})[ -]?(?:${after})(?!\\p{L})`,
    'iu',
  ).exec(sentence)
  const table =
    key === 'people'
      ? /\b(?:table|party|group) (?:for|of) (?<n>\d{1,3}|[a-z]{3,6})\b(?! (?:pm|am|o'clock))/i.exec(
          sentence,
        )
      : null
  return found?.groups?.['n'] ?? table?.groups?.['n']
}

const numbers = 'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve'

/** Returns the slot that the words of an argument's name mean; undefined for `id` or `no`. */
export function slotOfName(words: string): string | undefined {
  return slots.find(({ key }) => namesOf.get(key)?.argument.test(words) === true)?.key
}
