//! The programs that fetch files, and their options.

use super::options::{alone, joined, valued};
use super::writer_table::Means::{Elsewhere, Fetches, File, Named, Nothing, Script, Shows};
use super::writer_table::{Operands, Writer, writer};

/// The programs, each with the options that it is often given.
pub(super) const FETCHERS: &[Writer] = &[
    writer(
        &["curl"],
        Operands::Options,
        &[
            alone(
                Nothing,
                "012346#:aBfgGIijklLMNnpqRsSvVZ",
                "fail fail-with-body fail-early silent show-error location location-trusted head \
                 include verbose compressed insecure get globoff http0.9 next ssl-no-revoke no-styled-output no-location http1.0 http1.1 http2 \
                 http2-prior-knowledge http3 ipv4 ipv6 tlsv1 tlsv1.2 tlsv1.3 no-buffer \
                 no-progress-meter progress-bar parallel retry-all-errors retry-connrefused \
                 path-as-is remote-time create-dirs no-clobber netrc negotiate ntlm digest basic \
                 anyauth post301 post302 post303 disable tcp-nodelay tcp-fastopen no-keepalive \
                 raw tr-encoding ssl-reqd version help manual compressed-ssh no-sessionid \
                 disallow-username-in-url append crlf use-ascii list-only junk-session-cookies",
            ),
            valued(
                Nothing,
                "AbCdeEFHmPQrtTuUxXyYz",
                "user-agent cookie continue-at data data-ascii data-binary data-raw \
                 data-urlencode json referer cert form form-string header proxy-header max-time \
                 connect-timeout max-redirs max-filesize quote range upload-file user proxy-user \
                 proxy noproxy request request-target speed-limit speed-time time-cond url \
                 url-query cacert capath cert-type key key-type pass ciphers resolve connect-to \
                 interface dns-servers doh-url limit-rate rate retry retry-delay \
                 retry-max-time socks5 socks5-hostname unix-socket abstract-unix-socket \
                 oauth2-bearer aws-sigv4 parallel-max keepalive-time local-port proto proto-redir \
                 proto-default tls-max expect100-timeout netrc-file pinnedpubkey variable",
            ),
            valued(
                File,
                "ocD",
                "output cookie-jar dump-header trace trace-ascii stderr hsts alt-svc etag-save \
                 libcurl",
            ),
            alone(Fetches, "O", "remote-name remote-name-all"),
            alone(Named, "J", "remote-header-name"),
            valued(Named, "", "output-dir"),
            valued(Elsewhere, "K", "config"),
            valued(Script, "w", "write-out"),
            valued(Nothing, "h", ""),
        ],
    ),
    writer(
        &["wget"],
        Operands::Fetched,
        &[
            alone(
                Nothing,
                "46bcdFHhnNqSvV",
                "background continue debug quiet verbose no-verbose no-clobber timestamping \
                 server-response no-check-certificate no-cookies no-proxy no-cache no-dns-cache \
                 inet4-only inet6-only show-progress retry-connrefused no-hsts https-only \
                 no-directories no-host-directories content-on-error no-netrc no-parent \
                 no-use-server-timestamps no-http-keep-alive force-html",
            ),
            alone(Shows, "", "spider help version"),
            valued(
                Nothing,
                "BTtUwQ",
                "base timeout tries user-agent wait waitretry random-wait quota header user \
                 password http-user http-password post-data post-file method body-data body-file \
                 referer limit-rate dns-timeout connect-timeout read-timeout max-redirect \
                 load-cookies ca-certificate certificate private-key secure-protocol retry-on-http-error \
                 bind-address prefer-family compression",
            ),
            joined(Nothing, "", "progress"),
            valued(
                File,
                "oaO",
                "output-file append-output output-document save-cookies hsts-file warc-file \
                 rejected-log",
            ),
            alone(
                Named,
                "EkKLmprx",
                "recursive mirror page-requisites force-directories content-disposition \
                 convert-links backup-converted adjust-extension trust-server-names",
            ),
            valued(
                Named,
                "ADIilPRX",
                "accept reject domains level directory-prefix input-file cut-dirs \
                 include-directories exclude-directories default-page backups",
            ),
            valued(Elsewhere, "e", "execute config use-askpass"),
        ],
    ),
];
