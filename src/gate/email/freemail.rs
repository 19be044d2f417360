//! Step 3, `freemail`: the address or the site is at a provider, so that domains that
//! agree, or differ, say nothing.

use super::lists;
use super::site::hosted;
use super::step::{Context, EMAIL, SITE, Step};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::world::mailbox::Mailbox;

pub static STEP: Step = Step {
    name: "email-freemail",
    cost: Cost::Local,
    verifies: Verifies::Form,
    keys: &["site", "email"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let provider = context.email.as_ref().and_then(freemail).map(|provider| {
        let actual = format!("{provider} gives addresses to anyone");
        Fact::new("freemail", "an address at the site's domain", actual).on(EMAIL)
    });
    let host = context.site.as_ref().and_then(hosted).map(|host| {
        let expected = "a site at a domain of its own";
        Fact::new("hosted-site", expected, host).on(SITE)
    });
    provider.into_iter().chain(host).collect()
}

pub fn freemail(mailbox: &Mailbox) -> Option<&'static str> {
    lists::FREEMAIL.covering(mailbox.domain().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::gate::email::tests::EmailCase;

    #[test]
    fn knows_providers_and_hosts_and_not_their_neighbours() {
        let own = "https://acme.co.kr/";
        for (site, email, expected) in rows! {
            own, "info@acme.co.kr" => "";
            own, "acme@gmail.com" => "freemail";
            own, "acme@Naver.com" => "freemail";
            own, "acme@hanmail.net" => "freemail";
            own, "acme@vip.qq.com" => "freemail";
            own, "acme@yahoo.co.jp" => "freemail";
            own, "acme@gmail.acme.com" => "";
            own, "acme@navercorp.com" => "";
            own, "acme@mygmail.com" => "";
            // A provider counts on its own site too.
            "https://naver.com/", "x@naver.com" => "freemail";
            "https://www.facebook.com/acme", "info@acme.co.kr" => "hosted-site";
            "https://acme.github.io/", "acme@gmail.com" => "freemail hosted-site";
        } {
            let fired = EmailCase::good().site(site).email(email).fired(&STEP);
            assert_eq!(fired.join(" "), expected, "{site} {email}");
        }
    }
}
