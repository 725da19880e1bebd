import { definePage, type Route } from '../../../platform/http/index.ts'

/**
 * The pages that links of invitations and password resets open. They are static: the token is in
 * the fragment of the link, which the script reads and sends in the body of API calls.
 */
export function accountPages(): Route[] {
  return [
    definePage({
      url: '/invitation',
      id: 'invitationPage',
      summary: 'Page that accepts an invitation',
      file: fileOf('invitation.html'),
    }),
    definePage({
      url: '/reset-password',
      id: 'resetPasswordPage',
      summary: 'Page that sets a new password or requests a link',
      file: fileOf('reset-password.html'),
    }),
    definePage({
      url: '/account-pages/pages.css',
      id: 'accountPagesStyle',
      summary: 'Style of these pages',
      file: fileOf('pages.css'),
    }),
    definePage({
      url: '/account-pages/page.js',
      id: 'accountPagesScript',
      summary: 'Script of these pages',
      file: fileOf('page.js'),
    }),
    definePage({
      url: '/account-pages/flows.js',
      id: 'accountPagesFlows',
      summary: 'Steps of these pages',
      file: fileOf('flows.js'),
    }),
  ]
}

function fileOf(name: string): URL {
  return new URL(`./browser/${name}`, import.meta.url)
}
