//! The module `petal` for Redis from 6.2 on, and Valkey: filters with the commands and the bytes of RedisBloom, and
//! filters of every kind of Petal.
//!
//! `server` has the interface of the server in safe types, `redisbloom` has the commands `BF.*` and `CF.*`, and
//! `images` has the commands `PETAL.*`. The filters come from the core.

mod images;
mod links;
mod redisbloom;
mod server;
mod valkey_bloom;

use redis_module::raw;
use redisbloom::{bf, cf};
use server::defaults;
use server::{Argument, Context, ERR, OK, value};
use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The name that the server knows the module by.
const NAME: &CStr = c"petal";

/// The version in the server's form: two digits for each part.
const VERSION: c_int = 100;

/// The module name of RedisBloom and valkey-bloom, for clients that look for it, and their versions with the same
/// interface.
const OWNERS_NAME: &CStr = c"bf";
const REDISBLOOMS_VERSION: c_int = 80_800;
const VALKEY_BLOOMS_VERSION: c_int = 10_001;

/// The oldest supported server version: a byte for each part.
const OLDEST: c_int = 0x0006_0200;

/// Commands that another module, or the server itself, must not have.
const OTHERS: [&CStr; 4] = [c"bf.add", c"bf.reserve", c"cf.add", c"petal.reserve"];

/// The server calls this function when it loads the module.
///
/// # Safety
/// Only the server calls this function. The context and `count` arguments are valid until it returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
) -> c_int {
    let start = arguments.cast::<Argument>();
    // SAFETY: only the server calls this function, so the context and `count` arguments are valid until it returns.
    // Nothing is allocated before `Export_RedisModule_InitAPI`. An `Argument` is a transparent pointer to a string, and
    // there may be no arguments.
    let arguments = unsafe {
        raw::Export_RedisModule_InitAPI(context);
        if count > 0 { std::slice::from_raw_parts(start, count as usize) } else { &[] }
    };
    // SAFETY: only the server calls this function, so the context is valid.
    let is_valkey = unsafe { Context::new(context) }.is_valkey();
    // An error in the arguments is logged after the module exists, because the log belongs to a module.
    let is_valkey_bloom = defaults::wants_valkey_bloom(arguments).ok().flatten().unwrap_or(is_valkey);
    defaults::set_valkey_bloom(is_valkey_bloom);
    let (name, version) = match (defaults::has_owners_name(arguments), is_valkey_bloom) {
        (Ok(true), true) => (OWNERS_NAME, VALKEY_BLOOMS_VERSION),
        (Ok(true), false) => (OWNERS_NAME, REDISBLOOMS_VERSION),
        _ => (NAME, VERSION),
    };
    // SAFETY: only the server calls this function, so the context is valid. The name is static.
    let context = unsafe {
        if raw::Export_RedisModule_Init(context, name.as_ptr(), version, raw::REDISMODULE_APIVER_1 as c_int) == ERR {
            return ERR;
        }
        Context::new(context)
    };
    match catch_unwind(AssertUnwindSafe(|| load(&context, arguments))) {
        Ok(Ok(())) => OK,
        Ok(Err(why)) => {
            context.warn(&format!("petal is not loaded: {why}"));
            ERR
        }
        Err(_) => ERR,
    }
}

/// Registers types, settings and commands with the server.
fn load(context: &Context, arguments: &[Argument]) -> Result<(), String> {
    // Checks the version before it registers anything, so that a server without the module stays unchanged.
    if context.server_version() < OLDEST {
        return Err("it needs Redis 6.2 or newer, or Valkey".into());
    }
    for name in OTHERS {
        if context.has_command(name) {
            let name = name.to_string_lossy();
            return Err(format!(
                "there is a command {name} already, from RedisBloom, another module or the server itself; petal reads \
                 what RedisBloom and valkey-bloom kept, so load one of the two"
            ));
        }
    }
    defaults::set(arguments)?;
    server::beside::this_is_the_servers_thread();
    petal::storage::use_allocator_only();
    context.handle_errors_of_reading();
    value::register::<bf::chain::Chain>(context)?;
    value::register::<valkey_bloom::object::Object>(context)?;
    value::register::<cf::tables::Tables>(context)?;
    value::register::<images::stored::Stored>(context)?;
    for category in [bf::CATEGORY, cf::CATEGORY, images::CATEGORY] {
        if !context.add_category(category) {
            let category = category.to_string_lossy();
            return Err(format!("the server does not take the category {category} of access-control lists"));
        }
    }
    let commands = [bf::commands(), cf::COMMANDS.iter().collect(), images::COMMANDS.iter().collect()];
    let refused = commands.iter().flatten().find(|command| !command.register(context));
    if let Some(command) = refused {
        return Err(format!("the server does not take {}", command.name.to_string_lossy()));
    }
    if !context.register_report(valkey_bloom::read::report) {
        return Err("the server does not take the module's part of INFO".into());
    }
    context.register_settings().map_err(|name| {
        let name = name.to_string_lossy();
        format!("the server does not take its configuration {name}: the lines of its log before this one say why")
    })
}
