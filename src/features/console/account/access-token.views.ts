import { copyActions } from '../../../platform/pages/components/copy-actions.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'

export function accessTokenPage(): Page {
  return {
    title: 'Access token',
    content: html`<section class="medium card">
<h1>Access token</h1>
<p>With an access token, requests to the API are yours. The <a href="/docs">description of the API</a> gets one by itself
when you choose “Use my session” there. Here you can make one by hand, to try something in a terminal.</p>
<p>It works for a few minutes, and ends with your session. For a program, <a href="/console/account/keys/new">make an API
key</a> instead.</p>
<form method="post" action="/console/access-token"><button class="main">Make an access token</button></form>
<p class="beside"><a href="/console/account">Back to your account</a></p>
</section>`,
  }
}

export function issuedTokenPage({ access_token: token, expires_in: seconds }: IssuedToken): Page {
  return {
    title: 'Your access token',
    content: html`<section class="medium card">
<h1>Your access token</h1>
<p>It works for ${Math.ceil(seconds / 60)} minutes, and ends with your session.</p>
<p class="codes key" id="access-token"><code>${token}</code></p>
<p class="hint">Click the token to select it. It goes into the header <code>Authorization: Bearer …</code></p>
${copyActions({ target: 'access-token', next: { label: 'Go to the API', href: '/docs' } })}
</section>`,
  }
}

interface IssuedToken {
  access_token: string
  expires_in: number
}
