/** The form of our keys in a text: `lt_…`, a service account's `lt_sa_…`, an operator's `lt_op_…`. */
export const projectKeyForm = /\blt_(?:sa_|op_)?[A-Za-z0-9]{8}_[A-Za-z0-9]{8,}/

const everyKey = new RegExp(projectKeyForm, 'g')

/** Characters of the shortest text of this form. */
const characters_min = 20

/** Returns whether a text holds one of our keys. The cheap checks come first: most texts are short. */
export function holdsProjectKey(text: string): boolean {
  return text.length >= characters_min && text.includes('lt_') && projectKeyForm.test(text)
}

/** Returns the text with `lt_…` in place of each of our keys. */
export function withoutProjectKeys(text: string): string {
  return holdsProjectKey(text) ? text.replaceAll(everyKey, 'lt_…') : text
}
